private import Glibc
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

    fileprivate var sizeWithoutOffset: Int { 2 + Nonce.size + UInt64(length).varintSize }
}

struct EarlierVersion: Hashable, Sendable {
    let modified: UInt64
    var version: StoredVersion
}

package struct Attribute: Hashable, Sendable {
    package let key: String
    package let value: String

    package init(key: String, value: String) { (self.key, self.value) = (key, value) }
}

package struct Entry: Hashable, Sendable {
    /// The fields of a present entry. A removed one has none of them.
    package struct Content: Hashable, Sendable {
        package var created: UInt64
        package var current: StoredVersion
        /// From when on the value does not count, in milliseconds since 1970; nil if it always counts.
        package var expiry: UInt64?
        var earlier: [EarlierVersion] = []
        /// In ascending order of their keys.
        package var attributes: [Attribute]
    }

    package let name: EntryName
    /// Milliseconds since 1970.
    package let modified: UInt64
    /// nil for a tombstone: the name was removed.
    package var content: Content?

    package var isRemoved: Bool { content == nil }

    /// Returns whether a value is present at a time: not that of a tombstone, and none that has expired. The time is
    /// asked for only if it decides.
    func isPresent(at now: @autoclosure () -> UInt64) -> Bool {
        guard let content else { return false }
        return if let expiry = content.expiry { now() < expiry } else { true }
    }

    /// Returns what is present at a time.
    func present(at now: @autoclosure () -> UInt64) -> Content? { isPresent(at: now()) ? content : nil }

    var versions: [StoredVersion] {
        guard let content else { return [] }
        return [content.current] + content.earlier.map(\.version)
    }

    /// The size of the entry in a compacted file: its encoding, with every offset counted as one byte, and the boxes of
    /// its values. The length of an encoded offset changes when a value moves. This must not.
    var footprint: UInt64 {
        guard let content else { return 0 }
        let boxes = content.earlier.reduce(content.current.boxLength) { $0 + $1.version.boxLength }
        return UInt64(sizeWithoutOffsets + boxes)
    }

    /// The size of the encoding, with every offset counted as one byte: as the writer below writes it, without writing
    /// it. A set asks for it several times.
    var sizeWithoutOffsets: Int {
        var size = name.bytes.count.sizeWithBytes + 1 + modified.varintSize
        guard let content else { return size }
        size += content.created.varintSize + content.current.sizeWithoutOffset + (content.expiry?.varintSize ?? 0)
        if !content.earlier.isEmpty {
            size += UInt64(content.earlier.count).varintSize
            for earlier in content.earlier { size += earlier.modified.varintSize + earlier.version.sizeWithoutOffset }
        }
        if !content.attributes.isEmpty {
            size += UInt64(content.attributes.count).varintSize
            for attribute in content.attributes {
                size += attribute.key.utf8.count.sizeWithBytes + attribute.value.utf8.count.sizeWithBytes
            }
        }
        return size
    }

    func moved(by distance: UInt64) -> Entry {
        var entry = self
        entry.content?.current.offset += distance
        for index in entry.content?.earlier.indices ?? 0..<0 {
            entry.content?.earlier[index].version.offset += distance
        }
        return entry
    }

    /// Gives its versions new places, one behind the other.
    mutating func place(_ boxes: [[UInt8]], from start: UInt64) {
        guard content != nil, let current = boxes.first else { return }
        content?.current.offset = start
        var end = start + UInt64(current.count)
        for (index, box) in boxes.dropFirst().enumerated() {
            content?.earlier[index].version.offset = end
            end += UInt64(box.count)
        }
    }
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

// MARK: - Coding

extension UInt64 {
    /// The size of the number as a varint.
    fileprivate var varintSize: Int { Swift.max(1, (70 - leadingZeroBitCount) / 7) }
}

extension Int {
    /// The size of so many bytes with their number before them.
    fileprivate var sizeWithBytes: Int { UInt64(self).varintSize + self }
}

private enum Flag {
    static let removed: UInt8 = 1
    static let attributes: UInt8 = 2
    static let expiry: UInt8 = 4
    static let earlier: UInt8 = 8
    static let known = removed | attributes | expiry | earlier
}

extension ByteReader {
    mutating func name() throws(Malformed) -> EntryName {
        guard let name = EntryName(bytes: try array(count(upTo: Limits.nameSize))) else { throw Malformed("a name") }
        return name
    }

    mutating func entry() throws(Malformed) -> Entry {
        let start = position
        let name = try name()
        let flags = try byte()
        let modified = try varint()
        guard flags & ~Flag.known == 0 else { throw Malformed("an entry's flags") }
        let isRemoved = flags & Flag.removed != 0
        guard !isRemoved || flags == Flag.removed else { throw Malformed("a tombstone's flags") }
        let entry = Entry(name: name, modified: modified, content: try isRemoved ? nil : content(flags))
        guard position - start <= Limits.entrySize else { throw Malformed("the length of an entry") }
        return entry
    }

    /// Reads only the value of an entry that is present at a time, which allocates nothing; nil if none is.
    mutating func currentVersion(at now: @autoclosure () -> UInt64) throws(Malformed) -> StoredVersion? {
        try skip(count(upTo: Limits.nameSize))
        let flags = try byte()
        _ = try varint()
        guard flags & Flag.removed == 0 else { return nil }
        _ = try varint()
        let version = try storedVersion()
        if flags & Flag.expiry != 0, try varint() <= now() { return nil }
        return version
    }

    /// Reads only the name of an entry, and until when it is present.
    mutating func listedName() throws(Malformed) -> ListedName {
        let name = try name()
        let flags = try byte()
        guard flags & Flag.removed == 0 else { return ListedName(name, end: 0) }
        guard flags & Flag.expiry != 0 else { return ListedName(name, end: nil) }
        _ = (try varint(), try varint(), try storedVersion())
        return ListedName(name, end: try varint())
    }

    private mutating func content(_ flags: UInt8) throws(Malformed) -> Entry.Content {
        var content = Entry.Content(created: try varint(), current: try storedVersion(), attributes: [])
        if flags & Flag.expiry != 0 { content.expiry = try varint() }
        if flags & Flag.earlier != 0 {
            content.earlier = try list(upTo: Limits.earlierVersionCount) { (reader) throws(Malformed) in
                EarlierVersion(modified: try reader.varint(), version: try reader.storedVersion())
            }
            guard !content.earlier.isEmpty else { throw Malformed("a flag for nothing") }
        }
        if flags & Flag.attributes != 0 {
            content.attributes = try attributes(count: Limits.attributeCount, size: Limits.entrySize)
            guard !content.attributes.isEmpty else { throw Malformed("a flag for nothing") }
            let keys = content.attributes.map(\.key.utf8)
            guard zip(keys, keys.dropFirst()).allSatisfy({ $0.lexicographicallyPrecedes($1) }) else {
                throw Malformed("the order of attributes")
            }
        }
        return content
    }

    mutating func attributes(count: Int, size: Int) throws(Malformed) -> [Attribute] {
        try list(upTo: count) { (reader) throws(Malformed) in
            Attribute(key: try reader.text(upTo: size), value: try reader.text(upTo: size))
        }
    }

    private mutating func storedVersion() throws(Malformed) -> StoredVersion {
        StoredVersion(
            kind: try byte(), nonce: try nonce(), offset: try units(), length: try count(upTo: Limits.valueSize))
    }
}

extension ByteWriter {
    mutating func name(_ name: EntryName) {
        varint(name.bytes.count)
        append(name.bytes)
    }

    mutating func entry(_ entry: Entry) {
        name(entry.name)
        guard let content = entry.content else {
            byte(Flag.removed)
            return varint(entry.modified)
        }
        byte(
            (content.attributes.isEmpty ? 0 : Flag.attributes) | (content.expiry == nil ? 0 : Flag.expiry)
                | (content.earlier.isEmpty ? 0 : Flag.earlier))
        varint(entry.modified)
        varint(content.created)
        storedVersion(content.current)
        if let expiry = content.expiry { varint(expiry) }
        if !content.earlier.isEmpty {
            list(content.earlier) {
                $0.varint($1.modified)
                $0.storedVersion($1.version)
            }
        }
        if !content.attributes.isEmpty { attributes(content.attributes) }
    }

    mutating func attributes(_ attributes: [Attribute]) {
        list(attributes) {
            $0.text($1.key)
            $0.text($1.value)
        }
    }

    private mutating func storedVersion(_ version: StoredVersion) {
        byte(version.kind)
        nonce(version.nonce)
        units(version.offset)
        varint(version.length)
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
