import FoundationEssentials
import SealedLog

extension Keychain {
    /// What is known of a name, without opening its value; nil if it is absent.
    ///
    /// - Throws: ``VaultError`` with `invalid`, `damaged`, `busy`, `unavailable`; `rolledBack`, `diverged` or
    ///   `exchanged` if the file was replaced meanwhile.
    public func item(_ name: String) throws(VaultError) -> Item? {
        let name = try checked(name)
        return try translated { () throws(LogError) in try log.entry(name) }.flatMap(Item.init)
    }

    /// What is known of all names that begin with `prefix` and have all of `attributes`, in the order of the names'
    /// bytes.
    ///
    /// - Throws: as ``item(_:)``.
    public func items(
        prefix: String = "", attributes: [String: String] = [:]
    ) throws(VaultError) -> [Item] {
        var listing = try listing(prefix: prefix, attributes: attributes)
        var items: [Item] = []
        while let item = try listing.next() { items.append(item) }
        return items
    }

    /// All names that begin with `prefix`, in the order of their bytes.
    ///
    /// - Throws: as ``item(_:)``.
    public func names(prefix: String = "") throws(VaultError) -> [String] {
        var listing = try listing(prefix: prefix)
        var names: [String] = []
        while let item = try listing.next() { names.append(item.name) }
        return names
    }

    /// The items that ``items(prefix:attributes:)`` gives, one after the other, for lists of any length.
    ///
    /// - Throws: as ``item(_:)``.
    package func listing(prefix: String = "", attributes: [String: String] = [:]) throws(VaultError) -> ItemListing {
        let entries = try translated { () throws(LogError) in try log.listing(prefix: Array(prefix.utf8)) }
        return ItemListing(entries, attributes: attributes, places)
    }
}

extension Item {
    /// nil for a tombstone.
    init?(_ entry: Entry) {
        guard let content = entry.content else { return nil }
        self.init(
            name: entry.name.text, size: content.current.length, kind: ValueKind(rawValue: content.current.kind),
            created: Date(milliseconds: content.created), modified: Date(milliseconds: entry.modified),
            attributes: Dictionary(content.attributes.map { ($0.key, $0.value) }) { first, _ in first })
    }
}

extension Date {
    /// Times that no calendar shows end with the year 9999.
    init(milliseconds: UInt64) {
        let endOf9999: UInt64 = 253_402_300_799_999
        self.init(timeIntervalSince1970: Double(min(milliseconds, endOf9999)) / 1_000)
    }
}
