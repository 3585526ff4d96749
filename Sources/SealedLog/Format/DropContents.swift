import LinuxSystem
package import Sealing

/// What is in a drop: one value, with its name and attributes, for a vault that its sender cannot open; Format.md,
/// "Drops".
package struct DropContents: ~Copyable {
    package let name: EntryName
    package let kind: UInt8
    /// When it was sealed, by its sender's clock: milliseconds since 1970.
    package let created: UInt64
    package let attributes: [Attribute]
    package let value: SecretBytes

    private static let magic = Array("vltdrop1".utf8)
    /// Of all before the value.
    private static let headSizeLimit = 16 << 10

    package init(
        name: EntryName, kind: UInt8, attributes: [Attribute], value: consuming SecretBytes,
        created: UInt64 = Clock.milliseconds
    ) {
        (self.name, self.kind, self.created, self.attributes) = (name, kind, created, attributes)
        self.value = value
    }

    /// What is before the value.
    private struct Head {
        let created: UInt64
        let name: EntryName
        let kind: UInt8
        let attributes: [Attribute]

        init(_ reader: inout ByteReader) throws(Malformed) {
            guard try reader.array(DropContents.magic.count) == DropContents.magic else { throw Malformed("its start") }
            created = try reader.varint()
            name = try reader.name()
            kind = try reader.byte()
            attributes = try reader.orderedAttributes()
            guard attributes.first?.key != "" else { throw Malformed("an attribute without a key") }
        }
    }

    /// Reads a drop's plaintext. Throws `damaged`, `outOfMemory`.
    package init(parsing plaintext: borrowing SecretBytes) throws(LogError) {
        // Names are in ordinary memory wherever they are; the value is not read from here.
        var reader = ByteReader(plaintext.withUnsafeBytes { Array($0.prefix(DropContents.headSizeLimit)) })
        let head: Head
        do { head = try Head(&reader) } catch { throw .damaged("what it contains (\(error.what))") }
        let start = reader.position
        guard plaintext.count - start <= Limits.valueSize else { throw .damaged("its size") }
        let value = try plaintext.withUnsafeBytes { (bytes) throws(LogError) in
            try translated(SecretBytes(copyOf: UnsafeRawBufferPointer(rebasing: bytes[start...])))
        }
        self.init(
            name: head.name, kind: head.kind, attributes: head.attributes, value: value, created: head.created)
    }

    /// Returns the plaintext of the drop. Throws `outOfMemory`; `invalid` for attributes that no entry has room for.
    package borrowing func encoded() throws(LogError) -> SecretBytes {
        let current = StoredVersion(kind: kind, nonce: NonceSource.one(), offset: 0, length: value.count)
        let content = Entry.Content(created: created, current: current, attributes: attributes)
        try Entry(name: name, modified: created, content: content).checkSize()
        var head = ByteWriter()
        head.append(DropContents.magic)
        head.varint(created)
        head.name(name)
        head.byte(kind)
        head.attributes(attributes)
        var plaintext = try translated(SecretBytes(zeros: head.count + value.count))
        plaintext.withUnsafeMutableBytes { plaintext in
            plaintext.copyBytes(from: head.bytes)
            value.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: plaintext[head.count...]).copyMemory(from: $0)
            }
        }
        return plaintext
    }
}
