private import Glibc
import LinuxSystem
package import Sealing

// What the vault stores about one name; Format.md, "Entries".

/// A stored value: the location of its box, its length, and the nonce of the box.
package struct StoredVersion: Hashable, Sendable {
    package var kind: UInt8
    package var nonce: Nonce
    var offset: UInt64
    /// The value's length in bytes, without padding and tag.
    package var length: Int

    /// The length of the box: padded to a multiple of 16, at least 16, and the tag.
    package var boxLength: Int { SecretBytes.paddedSize(length) + SecretBox.tagSize }

    /// The bytes of the box in the file.
    var box: Range<UInt64> { offset..<offset + UInt64(boxLength) }
}

/// A value that a name had before, with what else the name had then.
package struct EarlierVersion: Hashable, Sendable {
    /// When it was set.
    package let modified: UInt64
    package internal(set) var version: StoredVersion
    /// As that of an entry.
    var expiry: UInt64?
    var attributes: [Attribute] = []
    /// Who set it, if that was signed.
    var authorship: Authorship?
}

package struct Attribute: Hashable, Sendable {
    package let key: String
    package let value: String

    package init(key: String, value: String) { (self.key, self.value) = (key, value) }

    /// By bytes, as names are: by Swift's `==`, the attribute of one host would be that of another.
    package static func == (left: Attribute, right: Attribute) -> Bool {
        left.key.isSame(as: right.key) && left.value.isSame(as: right.value)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactText(key))
        hasher.combine(ExactText(value))
    }
}

extension [Attribute] {
    /// Returns the value of a key; nil if there is none, or if it is empty.
    package func value(of key: String) -> String? {
        first { $0.key.isSame(as: key) }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }
}

package struct Entry: Hashable, Sendable {
    /// The fields of a present entry. A removed one has none of them.
    package struct Content: Hashable, Sendable {
        package var created: UInt64
        package var current: StoredVersion
        /// From when on the value does not count, in milliseconds since 1970; nil if it always counts.
        package var expiry: UInt64?
        /// In ascending order of their keys.
        package var attributes: [Attribute]
    }

    package let name: EntryName
    /// Milliseconds since 1970, later than that of any state that this one has followed.
    package internal(set) var modified: UInt64
    /// The number of the record that has set it.
    package var sequence: UInt64 = 0
    /// nil for a tombstone: the name was removed.
    package var content: Content?
    /// What the name had before, newest first.
    package internal(set) var earlier: [EarlierVersion] = []
    /// Versions that were set up to this time were forgotten on request, and are not taken from another copy again.
    var forgotten: UInt64?
    /// When versions of two copies were joined: they are kept from then on as if they had been replaced then.
    var joined: UInt64?
    /// Who has made the present state, if that was signed.
    package internal(set) var authorship: Authorship?

    package var isRemoved: Bool { content == nil }
    /// Whether values of it were forgotten on request.
    package var isForgotten: Bool { forgotten != nil }

    /// Returns whether a value is present at a time: not that of a tombstone, and none that has expired. The time is
    /// asked for only if it decides.
    func isPresent(at now: @autoclosure () -> UInt64) -> Bool {
        guard let content else { return false }
        return if let expiry = content.expiry { now() < expiry } else { true }
    }

    /// Returns what is present at a time.
    package func present(at now: @autoclosure () -> UInt64) -> Content? { isPresent(at: now()) ? content : nil }

    var versions: [StoredVersion] { (content.map { [$0.current] } ?? []) + earlier.map(\.version) }

    /// The size of the entry in a compacted file: its encoding, with every offset counted as one byte, and the boxes of
    /// its values. The length of an encoded offset changes when a value moves. This must not.
    var footprint: UInt64 {
        // A tombstone without a history counts as nothing.
        if content == nil, earlier.isEmpty { return 0 }
        return UInt64(sizeWithoutOffsets) + boxBytes { _ in true }
    }

    /// Returns how many bytes the boxes of those versions take that `isCounted` chooses.
    func boxBytes(_ isCounted: (StoredVersion) -> Bool) -> UInt64 {
        var bytes = 0
        if let current = content?.current, isCounted(current) { bytes += current.boxLength }
        for earlier in earlier where isCounted(earlier.version) { bytes += earlier.version.boxLength }
        return UInt64(bytes)
    }

    /// Returns whether a version is the present one or an earlier one.
    func has(_ version: StoredVersion) -> Bool {
        content?.current.nonce == version.nonce || earlier.contains { $0.version.nonce == version.nonce }
    }

    /// Changes each of its versions, the present one first.
    mutating func forEachVersion<Failure: Error>(
        _ change: (inout StoredVersion) throws(Failure) -> Void
    ) throws(Failure) {
        if var current = content?.current {
            try change(&current)
            content?.current = current
        }
        for index in earlier.indices { try change(&earlier[index].version) }
    }

    /// Returns the entry with a distance added to the offsets of versions, except those that are marked as stored.
    consuming func moved(by distance: UInt64) -> Entry {
        guard distance > 0 else { return self }
        forEachVersion { version in
            version.offset = version.isStored ? version.offset - StoredVersion.storedMark : version.offset + distance
        }
        return self
    }

    /// Returns the entry with all of its versions marked as being in the file already, for a record in which the others
    /// are counted from the start of the payload.
    consuming func markedStored() -> Entry {
        forEachVersion { $0.offset += StoredVersion.storedMark }
        return self
    }

    /// How many versions are marked.
    var storedCount: Int {
        earlier.reduce(content?.current.isStored == true ? 1 : 0) { $0 + ($1.version.isStored ? 1 : 0) }
    }

    /// How many bytes more the mark takes, encoded, at most.
    static let storedMarkSize = 6
}

extension StoredVersion {
    /// Larger than any offset in a file.
    fileprivate static let storedMark = Limits.valueOffset

    fileprivate var isStored: Bool { offset >= StoredVersion.storedMark }

    /// As it is in the file; nil if it is not there yet.
    var stored: StoredVersion? {
        guard isStored else { return nil }
        var version = self
        version.offset -= StoredVersion.storedMark
        return version
    }
}

/// A name, and until when it is present.
struct ListedName: Sendable {
    let name: String
    /// In milliseconds since 1970, 0 for a tombstone; nil if the value does not expire.
    let end: UInt64?

    init(_ name: String, end: UInt64?) { (self.name, self.end) = (name, end) }
}

/// The name of an entry: 1 to 1,024 bytes of UTF-8 without control characters, compared bytewise.
package struct EntryName: Hashable, Sendable, Comparable {
    package let bytes: [UInt8]

    package init?(_ text: String) { self.init(bytes: Array(text.utf8)) }

    init?(bytes: [UInt8]) {
        guard bytes.withUnsafeBytes(EntryName.isValid) else { return nil }
        self.bytes = bytes
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package static func < (left: EntryName, right: EntryName) -> Bool {
        left.bytes.withUnsafeBytes { left in right.bytes.withUnsafeBytes { left.order(to: $0) < 0 } }
    }

    package static func isValid(_ text: String) -> Bool { text.utf8.span.bytes.withUnsafeBytes(isValid) }

    /// Control characters are excluded: lists print one name per line, and a terminal would obey them.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard (1...Limits.nameSize).contains(bytes.count) else { return false }
        // The common case, without decoding.
        if bytes.allSatisfy({ (0x20...0x7e).contains($0) }) { return true }
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns a negative number, 0 or a positive number: the bytewise order, a prefix first.
    func order(to other: UnsafeRawBufferPointer) -> Int {
        let common = Swift.min(count, other.count)
        if common > 0, let left = baseAddress, let right = other.baseAddress {
            let order = Int(memcmp(left, right, common))
            if order != 0 { return order }
        }
        return count - other.count
    }
}

/// Finds the first of `count` sorted names that is not before the sought one, and whether it is equal. `order` compares
/// by index: a negative number, 0 or a positive number.
@inline(__always)
func binarySearch<Failure: Error>(
    _ count: Int, order: (Int) throws(Failure) -> Int
) throws(Failure) -> (index: Int, isExact: Bool) {
    var (low, high) = (0, count)
    while low < high {
        let middle = (low + high) / 2
        let order = try order(middle)
        if order == 0 { return (middle, true) }
        if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
}
