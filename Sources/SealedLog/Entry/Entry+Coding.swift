import Sealing

private enum Flag {
    static let removed: UInt8 = 1
    static let attributes: UInt8 = 2
    static let expiry: UInt8 = 4
    static let earlier: UInt8 = 8
    static let known = removed | attributes | expiry | earlier
}

extension ByteReader {
    mutating func name() throws(Malformed) -> EntryName {
        let length = try count(upTo: Limits.nameSize)
        guard let name = EntryName(bytes: try array(length)) else { throw Malformed("a name") }
        return name
    }

    mutating func entry() throws(Malformed) -> Entry {
        let start = position
        let name = try name()
        let flags = try byte()
        let modified = try varint()
        guard flags & ~Flag.known == 0 else { throw Malformed("an entry's flags") }
        var entry = Entry(name: name, modified: modified, content: nil)
        if flags & Flag.removed == 0 {
            entry.content = try content(flags)
        } else if flags != Flag.removed {
            throw Malformed("a tombstone's flags")
        }
        guard position - start <= Limits.entrySize else { throw Malformed("the length of an entry") }
        return entry
    }

    /// An entry's present value alone, without making anything of the rest; nil of a tombstone.
    mutating func currentVersion() throws(Malformed) -> StoredVersion? {
        try skip(count(upTo: Limits.nameSize))
        let flags = try byte()
        _ = try varint()
        guard flags & Flag.removed == 0 else { return nil }
        _ = try varint()
        return try storedVersion()
    }

    private mutating func content(_ flags: UInt8) throws(Malformed) -> Entry.Content {
        var content = Entry.Content(created: try varint(), current: try storedVersion(), attributes: [])
        if flags & Flag.expiry != 0 { content.expiry = try varint() }
        if flags & Flag.earlier != 0 {
            for _ in 0..<(try filledCount(upTo: Limits.earlierVersionCount)) {
                content.earlier.append(EarlierVersion(modified: try varint(), version: try storedVersion()))
            }
        }
        if flags & Flag.attributes != 0 {
            for _ in 0..<(try filledCount(upTo: Limits.attributeCount)) {
                let attribute = Attribute(
                    key: try text(upTo: Limits.entrySize), value: try text(upTo: Limits.entrySize))
                if let last = content.attributes.last, !last.key.utf8.lexicographicallyPrecedes(attribute.key.utf8) {
                    throw Malformed("the order of attributes")
                }
                content.attributes.append(attribute)
            }
        }
        return content
    }

    private mutating func filledCount(upTo limit: Int) throws(Malformed) -> Int {
        let count = try count(upTo: limit)
        guard count > 0 else { throw Malformed("a flag for nothing") }
        return count
    }

    private mutating func storedVersion() throws(Malformed) -> StoredVersion {
        StoredVersion(
            kind: try byte(), nonce: try nonce(), offset: try units(), length: try count(upTo: Limits.valueSize))
    }
}

extension ByteWriter {
    mutating func entry(_ entry: Entry) {
        varint(entry.name.bytes.count)
        append(entry.name.bytes)
        guard let content = entry.content else {
            byte(Flag.removed)
            varint(entry.modified)
            return
        }
        var flags: UInt8 = 0
        if !content.attributes.isEmpty { flags |= Flag.attributes }
        if content.expiry != nil { flags |= Flag.expiry }
        if !content.earlier.isEmpty { flags |= Flag.earlier }
        byte(flags)
        varint(entry.modified)
        varint(content.created)
        storedVersion(content.current)
        if let expiry = content.expiry { varint(expiry) }
        if !content.earlier.isEmpty {
            varint(content.earlier.count)
            for earlier in content.earlier {
                varint(earlier.modified)
                storedVersion(earlier.version)
            }
        }
        if !content.attributes.isEmpty {
            varint(content.attributes.count)
            for attribute in content.attributes {
                text(attribute.key)
                text(attribute.value)
            }
        }
    }

    private mutating func storedVersion(_ version: StoredVersion) {
        byte(version.kind)
        nonce(version.nonce)
        units(version.offset)
        varint(version.length)
    }
}
