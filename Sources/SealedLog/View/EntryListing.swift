/// The present entries whose names begin with a prefix, as they were at one moment, in the order of their names.
///
/// Each is read when it is asked for, without a lock, so that a list of any length takes the memory of a few pages. A
/// copy goes on from where the original was: whoever needs two rounds copies the listing before the first.
package struct EntryListing: Sendable {
    private var merge: EntryMerge
    private let prefix: [UInt8]

    init(of view: LogView, prefix: [UInt8]) throws(LogError) {
        merge = try view.entries(from: prefix)
        self.prefix = prefix
    }

    /// Reads the next entry; nil at the end.
    ///
    /// - Throws: `damaged`, `unavailable`.
    package mutating func next() throws(LogError) -> Entry? {
        while let entry = try merge.next(), entry.name.bytes.starts(with: prefix) {
            if !entry.isRemoved { return entry }
        }
        return nil
    }
}
