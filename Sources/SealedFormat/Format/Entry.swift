private import Glibc
import LinuxSystem
package import Sealing

// The stored state of one entry; see Format.md, "Entries".

/// A stored value: its kind and length, and the offset and nonce of its box.
package struct StoredVersion: Hashable, Sendable {
    package var kind: UInt8
    package var nonce: Nonce
    package var offset: UInt64
    /// The value's length in bytes, without padding and tag.
    package var length: Int

    package init(kind: UInt8, nonce: Nonce, offset: UInt64, length: Int) {
        self.kind = kind
        self.nonce = nonce
        self.offset = offset
        self.length = length
    }

    /// The length of the box in bytes: the tag plus the value's length, rounded up to a multiple of 16 and at least 16.
    package var boxLength: Int { SecretBytes.paddedSize(length) + SecretBox.tagSize }

    /// The range of the box in the file.
    package var box: Range<UInt64> { offset..<offset + UInt64(boxLength) }
}

/// An earlier value of an entry, with the expiry and attributes that it had.
package struct EarlierVersion: Hashable, Sendable {
    /// The time when this version was set, in milliseconds since 1970.
    package let modified: UInt64
    package var version: StoredVersion
    /// The expiry in milliseconds since 1970; nil if there was none.
    package var expiry: UInt64?
    package var attributes: [Attribute] = []
    /// The signature of the device that set this version; nil if it was not signed.
    package var authorship: Authorship?

    package init(
        modified: UInt64, version: StoredVersion, expiry: UInt64? = nil, attributes: [Attribute] = [],
        authorship: Authorship? = nil
    ) {
        self.modified = modified
        self.version = version
        self.expiry = expiry
        self.attributes = attributes
        self.authorship = authorship
    }
}

package struct Attribute: Hashable, Sendable {
    package let key: String
    package let value: String

    package init(key: String, value: String) {
        self.key = key
        self.value = value
    }

    /// Compares keys and values bytewise, in the same way as names. Swift's `==` treats canonically equivalent strings
    /// as equal, so it could confuse the names of two hosts.
    package static func == (left: Attribute, right: Attribute) -> Bool {
        left.key.isSame(as: right.key) && left.value.isSame(as: right.value)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactText(key))
        hasher.combine(ExactText(value))
    }
}

extension [Attribute] {
    /// Returns the value of a key; nil if the key is missing or its value is empty.
    package func value(of key: String) -> String? {
        first { $0.key.isSame(as: key) }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }
}

package struct Entry: Hashable, Sendable {
    package struct Content: Hashable, Sendable {
        package var created: UInt64
        package var current: StoredVersion
        /// The time in milliseconds since 1970 at which the value expires; nil if it never expires.
        package var expiry: UInt64?
        /// The attributes in ascending order of their keys.
        package var attributes: [Attribute]

        package init(created: UInt64, current: StoredVersion, expiry: UInt64? = nil, attributes: [Attribute]) {
            self.created = created
            self.current = current
            self.expiry = expiry
            self.attributes = attributes
        }
    }

    package let name: EntryName
    /// The current state's time in milliseconds since 1970. Earlier states have earlier times unless a clock was wrong.
    package var modified: UInt64
    /// The sequence number of the record that set the current state; 0 if no record did.
    package var sequence: UInt64 = 0
    /// The contents; nil for a tombstone, that is, a removed entry.
    package var content: Content?
    /// The earlier versions, newest first.
    package var earlier: [EarlierVersion] = []
    /// The time up to which versions were forgotten at the user's request; nil if none. A merge does not restore them.
    package var forgotten: UInt64?
    /// The time when a merge added another copy's versions; nil if none did. Their retention period starts then.
    package var joined: UInt64?
    /// The signature of the current state; nil if it was not signed.
    package var authorship: Authorship?

    package init(
        name: EntryName, modified: UInt64, sequence: UInt64 = 0, content: Content? = nil,
        earlier: [EarlierVersion] = [], forgotten: UInt64? = nil, joined: UInt64? = nil, authorship: Authorship? = nil
    ) {
        self.name = name
        self.modified = modified
        self.sequence = sequence
        self.content = content
        self.earlier = earlier
        self.forgotten = forgotten
        self.joined = joined
        self.authorship = authorship
    }

    package var isRemoved: Bool { content == nil }
    /// Whether versions of the entry have been forgotten at the user's request.
    package var isForgotten: Bool { forgotten != nil }

    /// Returns whether the entry has a value at the time `now`. Tombstones and expired values count as absent. `now` is
    /// evaluated only if the entry has an expiry.
    package func isPresent(at now: @autoclosure () -> UInt64) -> Bool {
        guard let content else { return false }
        return if let expiry = content.expiry { now() < expiry } else { true }
    }

    package func present(at now: @autoclosure () -> UInt64) -> Content? { isPresent(at: now()) ? content : nil }

    package var versions: [StoredVersion] { (content.map { [$0.current] } ?? []) + earlier.map(\.version) }

    /// The size of the entry in a compacted file: its encoding and the boxes of its values. Every offset counts as one
    /// byte, so that the footprint stays the same when a value moves to an offset with a longer encoding.
    package var footprint: UInt64 {
        // A tombstone without earlier versions contains no value, and has a footprint of 0.
        if content == nil, earlier.isEmpty { return 0 }
        return UInt64(sizeWithoutOffsets) + boxBytes { _ in true }
    }

    /// Returns the total box size in bytes of the versions that `isCounted` selects.
    func boxBytes(_ isCounted: (StoredVersion) -> Bool) -> UInt64 {
        var bytes = 0
        if let current = content?.current, isCounted(current) { bytes += current.boxLength }
        for earlier in earlier where isCounted(earlier.version) { bytes += earlier.version.boxLength }
        return UInt64(bytes)
    }

    package func has(_ version: StoredVersion) -> Bool {
        content?.current.nonce == version.nonce || earlier.contains { $0.version.nonce == version.nonce }
    }

    package mutating func forEachVersion<Failure: Error>(
        _ change: (inout StoredVersion) throws(Failure) -> Void
    ) throws(Failure) {
        if var current = content?.current {
            try change(&current)
            content?.current = current
        }
        for index in earlier.indices { try change(&earlier[index].version) }
    }

    /// Converts all of the entry's offsets to unmarked file offsets: removes the mark from marked offsets, and adds
    /// `distance` to all others. If `distance` is 0, returns the entry unchanged.
    package consuming func moved(by distance: UInt64) -> Entry {
        guard distance > 0 else { return self }
        forEachVersion { version in
            version.offset = version.isStored ? version.offset - StoredVersion.storedMark : version.offset + distance
        }
        return self
    }

    /// Returns the entry with every version's offset marked as a file offset. In a new record, unmarked offsets are
    /// relative to the start of the payload.
    package consuming func markedStored() -> Entry {
        forEachVersion { $0.offset += StoredVersion.storedMark }
        return self
    }

    package var storedCount: Int {
        earlier.reduce(content?.current.isStored == true ? 1 : 0) { $0 + ($1.version.isStored ? 1 : 0) }
    }

    /// The maximum number of bytes that the mark of a file offset adds to the offset's encoding.
    package static let storedMarkSize = 6
}

extension StoredVersion {
    /// The number that is added to an offset to mark it as a file offset. It is larger than any real offset.
    fileprivate static let storedMark = Limits.valueOffset

    fileprivate var isStored: Bool { offset >= StoredVersion.storedMark }

    /// The version with the mark removed from its file offset; nil if there is no mark, as it is not stored yet.
    package var stored: StoredVersion? {
        guard isStored else { return nil }
        var version = self
        version.offset -= StoredVersion.storedMark
        return version
    }
}

/// A name in a listing, with the time at which its value expires.
package struct ListedName: Sendable {
    package let name: String
    /// The expiry in milliseconds since 1970; 0 for a tombstone, nil if the value does not expire.
    package let end: UInt64?
}

/// The name of an entry: 1 to 1,024 bytes of UTF-8 without control characters, compared bytewise.
package struct EntryName: Hashable, Sendable, Comparable {
    package let bytes: [UInt8]

    package init?(_ text: String) { self.init(bytes: Array(text.utf8)) }

    init?(bytes: [UInt8]) {
        guard bytes.withUnsafeBytes(NameRule.allows) else { return nil }
        self.bytes = bytes
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package static func < (left: EntryName, right: EntryName) -> Bool {
        left.bytes.withUnsafeBytes { left in right.bytes.withUnsafeBytes { left.order(to: $0) < 0 } }
    }
}

extension UnsafeRawBufferPointer {
    /// Compares the name with `other` bytewise. Returns a negative number, 0 or a positive number.
    package func order(to other: UnsafeRawBufferPointer) -> Int {
        let common = Swift.min(count, other.count)
        if common > 0, let left = baseAddress, let right = other.baseAddress {
            let order = Int(memcmp(left, right, common))
            if order != 0 { return order }
        }
        return count - other.count
    }
}

/// Searches `count` sorted names for the first one at or after the target. Returns its index, and whether it equals the
/// target. `order` compares the name at an index with the target: it returns a negative number, 0 or a positive number.
@inline(__always)
package func binarySearch<Failure: Error>(
    _ count: Int, order: (Int) throws(Failure) -> Int
) throws(Failure) -> (index: Int, isExact: Bool) {
    var low = 0
    var high = count
    while low < high {
        let middle = (low + high) / 2
        let order = try order(middle)
        if order == 0 { return (middle, true) }
        if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
}
