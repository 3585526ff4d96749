import LinuxSystem
import Sealing

// The encoding of entries; see Format.md, "Entries".

private enum Flag {
    static let removed: UInt8 = 1
    static let attributes: UInt8 = 2
    static let expiry: UInt8 = 4
    static let earlier: UInt8 = 8
    static let forgotten: UInt8 = 16
    static let joined: UInt8 = 32
    static let signed: UInt8 = 64
    static let known = removed | attributes | expiry | earlier | forgotten | joined | signed
    static let ofRemoved = removed | earlier | forgotten | joined | signed
}

private enum VersionFlag {
    /// The flag of a version whose attributes differ from those of the next newer version.
    static let attributes: UInt8 = 1
    static let expiry: UInt8 = 2
    static let signed: UInt8 = 4
    static let known = attributes | expiry | signed
}

extension ByteReader {
    package mutating func name() throws(Malformed) -> EntryName {
        guard let name = EntryName(bytes: try array(count(upTo: Limits.nameSize))) else { throw Malformed("a name") }
        return name
    }

    /// Reads an entry. If this process has encoded the entry itself (`isOwn`), neither its size nor its offsets are
    /// checked, and its offsets may be marked as file offsets; see ``Entry/markedStored()``.
    package mutating func entry(isOwn: Bool = false) throws(Malformed) -> Entry {
        let start = position
        let name = try name()
        let flags = try byte()
        let modified = try varint()
        let sequence = try varint()
        guard flags & ~Flag.known == 0 else { throw Malformed("an entry's flags") }
        let isRemoved = flags & Flag.removed != 0
        guard !isRemoved || flags & ~Flag.ofRemoved == 0 else { throw Malformed("a tombstone's flags") }
        var entry = Entry(
            name: name, modified: modified, sequence: sequence, content: try isRemoved ? nil : content(flags, modified))
        if flags & Flag.earlier != 0 {
            var attributes = entry.content?.attributes ?? []
            entry.earlier = try list(upTo: Limits.earlierVersionCount) { (reader) throws(Malformed) in
                let earlier = try reader.earlierVersion(before: attributes)
                attributes = earlier.attributes
                return earlier
            }
            guard !entry.earlier.isEmpty else { throw Malformed("an unnecessary flag") }
        }
        if flags & Flag.forgotten != 0 { entry.forgotten = try varint() }
        if flags & Flag.joined != 0 { entry.joined = try varint() }
        if flags & Flag.signed != 0 { entry.authorship = try authorship() }
        guard isOwn || position - start <= Limits.entrySize else { throw Malformed("the length of an entry") }
        guard isOwn || entry.versions.allSatisfy({ $0.offset < Limits.valueOffset }) else {
            throw Malformed("an offset out of bounds")
        }
        return entry
    }

    /// Reads an earlier version. It has the next newer version's `attributes` unless a flag shows that it has others.
    private mutating func earlierVersion(before attributes: [Attribute]) throws(Malformed) -> EarlierVersion {
        let modified = try varint()
        let flags = try byte()
        guard flags & ~VersionFlag.known == 0 else { throw Malformed("a version's flags") }
        var earlier = EarlierVersion(modified: modified, version: try storedVersion(), attributes: attributes)
        if flags & VersionFlag.expiry != 0 { earlier.expiry = try varint() }
        if flags & VersionFlag.attributes != 0 {
            earlier.attributes = try orderedAttributes()
            guard earlier.attributes != attributes else { throw Malformed("an unnecessary flag") }
        }
        if flags & VersionFlag.signed != 0 { earlier.authorship = try authorship() }
        return earlier
    }

    /// Reads only the current version, without allocating memory. Returns nil if the value is removed or expired.
    package mutating func currentVersion(at now: @autoclosure () -> UInt64) throws(Malformed) -> StoredVersion? {
        try skip(count(upTo: Limits.nameSize))
        let flags = try byte()
        guard flags & Flag.removed == 0 else { return nil }
        _ = (try varint(), try varint(), try varint())
        let version = try storedVersion()
        if flags & Flag.expiry != 0, try varint() <= now() { return nil }
        return version
    }

    package mutating func listedName() throws(Malformed) -> ListedName {
        let name = try withBytes(count(upTo: Limits.nameSize)) {
            NameRule.allows($0) ? String(decoding: $0, as: UTF8.self) : nil
        }
        guard let name else { throw Malformed("a name") }
        let flags = try byte()
        guard flags & Flag.removed == 0 else { return ListedName(name: name, end: 0) }
        guard flags & Flag.expiry != 0 else { return ListedName(name: name, end: nil) }
        _ = (try varint(), try varint(), try varint(), try storedVersion())
        return ListedName(name: name, end: try varint())
    }

    private mutating func content(_ flags: UInt8, _ modified: UInt64) throws(Malformed) -> Entry.Content {
        let age = try varint()
        guard age <= modified else { throw Malformed("an entry's age") }
        var content = Entry.Content(created: modified - age, current: try storedVersion(), attributes: [])
        if flags & Flag.expiry != 0 { content.expiry = try varint() }
        if flags & Flag.attributes != 0 {
            content.attributes = try orderedAttributes()
            guard !content.attributes.isEmpty else { throw Malformed("an unnecessary flag") }
        }
        return content
    }

    mutating func orderedAttributes() throws(Malformed) -> [Attribute] {
        let attributes = try attributes(count: Limits.attributeCount, size: Limits.entrySize)
        let keys = attributes.map(\.key.utf8)
        guard zip(keys, keys.dropFirst()).allSatisfy({ $0.lexicographicallyPrecedes($1) }) else {
            throw Malformed("the order of attributes")
        }
        return attributes
    }

    package mutating func attributes(count: Int, size: Int) throws(Malformed) -> [Attribute] {
        try list(upTo: count) { (reader) throws(Malformed) in
            Attribute(key: try reader.text(upTo: size), value: try reader.text(upTo: size))
        }
    }

    package mutating func storedVersion() throws(Malformed) -> StoredVersion {
        StoredVersion(
            kind: try byte(), nonce: try nonce(), offset: try units(), length: try count(upTo: Limits.valueSize))
    }
}

extension ByteWriter {
    package mutating func name(_ name: EntryName) {
        varint(name.bytes.count)
        append(name.bytes)
    }

    package mutating func entry(_ entry: Entry) {
        name(entry.name)
        byte(entry.flags)
        varint(entry.modified)
        varint(entry.sequence)
        if let content = entry.content {
            varint(entry.age(of: content))
            storedVersion(content.current)
            if let expiry = content.expiry { varint(expiry) }
            if !content.attributes.isEmpty { attributes(content.attributes) }
        }
        if !entry.earlier.isEmpty {
            varint(entry.earlier.count)
            var following = entry.content?.attributes ?? []
            for earlier in entry.earlier {
                earlierVersion(earlier, before: following)
                following = earlier.attributes
            }
        }
        if let forgotten = entry.forgotten { varint(forgotten) }
        if let joined = entry.joined { varint(joined) }
        if let authorship = entry.authorship { self.authorship(authorship) }
    }

    private mutating func earlierVersion(_ earlier: EarlierVersion, before following: [Attribute]) {
        varint(earlier.modified)
        let hasOthers = earlier.attributes != following
        byte(
            (hasOthers ? VersionFlag.attributes : 0) | (earlier.expiry == nil ? 0 : VersionFlag.expiry)
                | (earlier.authorship == nil ? 0 : VersionFlag.signed))
        storedVersion(earlier.version)
        if let expiry = earlier.expiry { varint(expiry) }
        if hasOthers { attributes(earlier.attributes) }
        if let authorship = earlier.authorship { self.authorship(authorship) }
    }

    package mutating func attributes(_ attributes: [Attribute]) {
        list(attributes) {
            $0.text($1.key)
            $0.text($1.value)
        }
    }

    package mutating func storedVersion(_ version: StoredVersion) {
        byte(version.kind)
        nonce(version.nonce)
        units(version.offset)
        varint(version.length)
    }
}

extension Entry {
    fileprivate var flags: UInt8 {
        var flags = content == nil ? Flag.removed : 0
        if content?.attributes.isEmpty == false { flags |= Flag.attributes }
        if content?.expiry != nil { flags |= Flag.expiry }
        if !earlier.isEmpty { flags |= Flag.earlier }
        if forgotten != nil { flags |= Flag.forgotten }
        if joined != nil { flags |= Flag.joined }
        if authorship != nil { flags |= Flag.signed }
        return flags
    }
}

extension Entry {
    /// Returns the milliseconds from the entry's creation to its last change. Returns 0 if the change is dated before
    /// the creation, which can happen when a merge combines times from several clocks.
    fileprivate func age(of content: Content) -> UInt64 { modified - min(content.created, modified) }

    /// The size of the encoding in bytes, with every offset counted as one byte. It is computed without encoding the
    /// entry, because a writer needs the size several times for each entry that it sets.
    package var sizeWithoutOffsets: Int {
        var size = name.bytes.count.sizeWithBytes + 1 + modified.varintSize + sequence.varintSize
        size += (forgotten?.varintSize ?? 0) + (joined?.varintSize ?? 0) + (authorship?.size ?? 0)
        if !earlier.isEmpty {
            size += UInt64(earlier.count).varintSize
            var following = content?.attributes ?? []
            for earlier in earlier {
                size += earlier.modified.varintSize + 1 + earlier.version.sizeWithoutOffset
                size += (earlier.expiry?.varintSize ?? 0) + (earlier.authorship?.size ?? 0)
                if earlier.attributes != following { size += earlier.attributes.size }
                following = earlier.attributes
            }
        }
        guard let content else { return size }
        size += age(of: content).varintSize + content.current.sizeWithoutOffset
        return size + (content.expiry?.varintSize ?? 0) + (content.attributes.isEmpty ? 0 : content.attributes.size)
    }
}

extension [Attribute] {
    /// The size of the encoding in bytes.
    fileprivate var size: Int {
        reduce(UInt64(count).varintSize) { $0 + $1.key.utf8.count.sizeWithBytes + $1.value.utf8.count.sizeWithBytes }
    }
}

extension StoredVersion {
    fileprivate var sizeWithoutOffset: Int { 2 + Nonce.size + UInt64(length).varintSize }
}

extension UInt64 {
    var varintSize: Int { Swift.max(1, (70 - leadingZeroBitCount) / 7) }
}

extension Int {
    /// The encoded size of a field that contains this many bytes, including the varint for its length.
    fileprivate var sizeWithBytes: Int { UInt64(self).varintSize + self }
}
