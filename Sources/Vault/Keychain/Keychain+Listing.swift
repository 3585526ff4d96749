public import FoundationEssentials
import SealedLog

extension Keychain {
    /// The properties of an entry that are available without opening its value.
    public struct Item: Hashable, Sendable {
        /// The name, exactly as it was set.
        public let name: String
        /// The value's size in bytes.
        public let size: Int
        package let valueKind: ValueKind
        /// The time at which the entry was created. Setting a name that is absent creates a new entry.
        public let created: Date
        /// The time at which the value was last set.
        public let modified: Date
        /// The time at which the value expires and the name becomes absent; nil if the value does not expire.
        public let expires: Date?
        /// The attributes, such as `service` or `url`. They describe the value, and are sealed together with the name.
        public let attributes: [String: String]

        /// The value's type, if it was specified: `text`, `data`, `boolean`, `integer`, `real`, `date`, `array`,
        /// `dictionary` or `null`. It is `unspecified` for untyped bytes, and a string such as `kind 17` for a type
        /// that this version does not support.
        public var kind: String { valueKind.description }

        /// Creates an entry's item; returns nil for a tombstone.
        fileprivate init?(_ entry: Entry, as name: String) {
            guard let content = entry.content else { return nil }
            self.name = name
            size = content.current.length
            valueKind = ValueKind(rawValue: content.current.kind)
            created = Date(milliseconds: content.created)
            modified = Date(milliseconds: entry.modified)
            expires = content.expiry.map(Date.init(milliseconds:))
            attributes = content.attributesByKey
        }
    }

    /// Returns the properties of an entry, without opening its value; nil if the name is absent.
    ///
    /// - Throws: ``VaultError`` with `invalid`, `damaged`, `busy` or `unavailable`; `rolledBack`, `diverged` or
    ///   `exchanged` if the file has been replaced since the vault was opened.
    public func item(_ name: String) throws(VaultError) -> Item? {
        let shown = try shownName(name)
        guard let entry = EntryName(shown) else { return nil }
        return try translated(log.entry(entry)).flatMap { Item($0, as: name) }
    }

    /// Returns whether a name exists, without opening its value.
    ///
    /// - Throws: the same errors as ``item(_:)``.
    public func exists(_ name: String) throws(VaultError) -> Bool { try item(name) != nil }

    /// Returns all entries whose names begin with `prefix` and that have all of `attributes`, sorted bytewise by name.
    ///
    /// - Throws: the same errors as ``item(_:)``.
    public func items(prefix: String = "", attributes: [String: String] = [:]) throws(VaultError) -> [Item] {
        var listing = try listing(prefix: prefix, attributes: attributes)
        var items: [Item] = []
        while let item = try listing.next() { items.append(item) }
        return items
    }

    public func keys(prefix: String) throws(VaultError) -> [String] {
        var listing = try names(prefix: prefix)
        var names: [String] = []
        while let name = try listing.next() { names.append(name) }
        return names
    }

    /// Returns the same names as ``keys(prefix:)``, but reads them one at a time.
    package func names(prefix: String = "") throws(VaultError) -> KeyListing {
        KeyListing(names: try translated(log.names(prefix: Array(ownName(prefix).utf8))), keychain: self)
    }

    /// Returns the same items as ``items(prefix:attributes:)``, but reads them one at a time.
    package func listing(prefix: String = "", attributes: [String: String] = [:]) throws(VaultError) -> ItemListing {
        ItemListing(
            entries: try translated(log.listing(prefix: Array(ownName(prefix).utf8))),
            attributes: attributes.map { Attribute(key: $0.key, value: $0.value) }, keychain: self)
    }
}

/// A snapshot of a keychain's items, sorted bytewise by name. Each item is read on demand. To iterate twice, copy the
/// listing before the first iteration.
package struct ItemListing: Sendable {
    fileprivate var entries: EntryListing
    fileprivate let attributes: [Attribute]
    fileprivate let keychain: Keychain

    /// Returns the next item; nil at the end. Throws `damaged` or `unavailable`.
    package mutating func next() throws(VaultError) -> Keychain.Item? {
        while let entry = try keychain.location.translated(entries.next()), let content = entry.content {
            if attributes.allSatisfy(content.attributes.contains) {
                return Keychain.Item(entry, as: keychain.shortened(entry.name.text))
            }
        }
        return nil
    }
}

/// A snapshot of the names of a keychain's entries, sorted bytewise. Each name is read on demand.
package struct KeyListing: Sendable {
    fileprivate var names: NameListing
    fileprivate let keychain: Keychain

    /// Returns the next name; nil at the end. Throws `damaged` or `unavailable`.
    package mutating func next() throws(VaultError) -> String? {
        do { return try names.next().map(keychain.shortened) } catch { throw VaultError(error, keychain.location) }
    }
}

extension Keychain {
    static func dictionary(_ attributes: [Attribute]) -> [String: String] {
        Dictionary(attributes.map { ($0.key, $0.value) }) { first, _ in first }
    }
}

extension Entry.Content { var attributesByKey: [String: String] { Keychain.dictionary(attributes) } }

extension Date {
    /// Creates a date. Times after the year 9999 become the end of that year, since some calendars cannot display them.
    package init(milliseconds: UInt64) {
        let endOf9999: UInt64 = 253_402_300_799_999
        self.init(timeIntervalSince1970: Double(min(milliseconds, endOf9999)) / 1_000)
    }

    /// The date in milliseconds since 1970, clamped to the range of `UInt64`.
    var milliseconds: UInt64 {
        let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
        return UInt64(exactly: max(milliseconds, 0)) ?? .max
    }
}
