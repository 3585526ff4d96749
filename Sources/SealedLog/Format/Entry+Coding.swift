import Sealing

// Format.md, "Entries".

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
        guard !isRemoved || flags & ~(Flag.removed | Flag.earlier) == 0 else { throw Malformed("a tombstone's flags") }
        var entry = Entry(name: name, modified: modified, content: try isRemoved ? nil : content(flags))
        if flags & Flag.earlier != 0 {
            entry.earlier = try list(upTo: Limits.earlierVersionCount) { (reader) throws(Malformed) in
                EarlierVersion(modified: try reader.varint(), version: try reader.storedVersion())
            }
            guard !entry.earlier.isEmpty else { throw Malformed("a flag for nothing") }
        }
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
        let name = try withBytes(count(upTo: Limits.nameSize)) {
            EntryName.isValid($0) ? String(decoding: $0, as: UTF8.self) : nil
        }
        guard let name else { throw Malformed("a name") }
        let flags = try byte()
        guard flags & Flag.removed == 0 else { return ListedName(name, end: 0) }
        guard flags & Flag.expiry != 0 else { return ListedName(name, end: nil) }
        _ = (try varint(), try varint(), try storedVersion())
        return ListedName(name, end: try varint())
    }

    private mutating func content(_ flags: UInt8) throws(Malformed) -> Entry.Content {
        var content = Entry.Content(created: try varint(), current: try storedVersion(), attributes: [])
        if flags & Flag.expiry != 0 { content.expiry = try varint() }
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

    mutating func storedVersion() throws(Malformed) -> StoredVersion {
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
        var flags = entry.earlier.isEmpty ? 0 : Flag.earlier
        guard let content = entry.content else {
            byte(flags | Flag.removed)
            varint(entry.modified)
            return earlierVersions(entry.earlier)
        }
        if !content.attributes.isEmpty { flags |= Flag.attributes }
        if content.expiry != nil { flags |= Flag.expiry }
        byte(flags)
        varint(entry.modified)
        varint(content.created)
        storedVersion(content.current)
        if let expiry = content.expiry { varint(expiry) }
        if !content.attributes.isEmpty { attributes(content.attributes) }
        earlierVersions(entry.earlier)
    }

    private mutating func earlierVersions(_ earlier: [EarlierVersion]) {
        guard !earlier.isEmpty else { return }
        list(earlier) {
            $0.varint($1.modified)
            $0.storedVersion($1.version)
        }
    }

    mutating func attributes(_ attributes: [Attribute]) {
        list(attributes) {
            $0.text($1.key)
            $0.text($1.value)
        }
    }

    mutating func storedVersion(_ version: StoredVersion) {
        byte(version.kind)
        nonce(version.nonce)
        units(version.offset)
        varint(version.length)
    }
}

// MARK: - Sizes

extension Entry {
    /// The size of the encoding, with every offset counted as one byte: as the writer above writes it, without writing
    /// it. A set asks for it several times.
    var sizeWithoutOffsets: Int {
        var size = name.bytes.count.sizeWithBytes + 1 + modified.varintSize
        if !earlier.isEmpty {
            size += UInt64(earlier.count).varintSize
            for earlier in earlier { size += earlier.modified.varintSize + earlier.version.sizeWithoutOffset }
        }
        guard let content else { return size }
        size += content.created.varintSize + content.current.sizeWithoutOffset + (content.expiry?.varintSize ?? 0)
        if !content.attributes.isEmpty {
            size += UInt64(content.attributes.count).varintSize
            for attribute in content.attributes {
                size += attribute.key.utf8.count.sizeWithBytes + attribute.value.utf8.count.sizeWithBytes
            }
        }
        return size
    }
}

extension StoredVersion {
    fileprivate var sizeWithoutOffset: Int { 2 + Nonce.size + UInt64(length).varintSize }
}

extension UInt64 {
    /// The size of the number as a varint.
    fileprivate var varintSize: Int { Swift.max(1, (70 - leadingZeroBitCount) / 7) }
}

extension Int {
    /// The size of so many bytes with their number before them.
    fileprivate var sizeWithBytes: Int { UInt64(self).varintSize + self }
}
