import SealedLog

/// The items of a keychain as they were at one moment, in the order of their names, each read when it is asked for.
///
/// A copy goes on from where the original was: whoever needs two rounds copies the listing before the first.
package struct ItemListing: Sendable {
    private var entries: EntryListing
    private let attributes: [String: String]
    private let places: VaultPlaces

    init(_ entries: EntryListing, attributes: [String: String], _ places: VaultPlaces) {
        self.entries = entries
        self.attributes = attributes
        self.places = places
    }

    /// Reads the next item; nil at the end.
    ///
    /// - Throws: ``VaultError`` with `damaged`, `unavailable`.
    package mutating func next() throws(VaultError) -> Item? {
        do {
            while let entry = try entries.next() {
                if entry.has(attributes) { return Item(entry) }
            }
            return nil
        } catch { throw VaultError(error, places) }
    }
}

extension Entry {
    fileprivate func has(_ attributes: [String: String]) -> Bool {
        attributes.allSatisfy { key, value in
            content?.attributes.contains { $0.key == key && $0.value == value } ?? false
        }
    }
}
