import LinuxSystem
package import Sealing

/// The contents of a drop; see Format.md, "Drops". A drop is a named value with attributes. Its sender seals it for a
/// vault that the sender cannot open.
package struct DropContents: ~Copyable {
    package let name: EntryName
    package let kind: UInt8
    /// The time when the drop was sealed, according to the sender's clock, in milliseconds since 1970.
    package let created: UInt64
    package let attributes: [Attribute]
    package let value: SecretBytes

    private static let magic = Array("vltdrop1".utf8)
    private static let headSizeLimit = 16 << 10

    package init(
        name: EntryName, kind: UInt8, attributes: [Attribute], value: consuming SecretBytes,
        created: UInt64 = Clock.milliseconds
    ) {
        self.name = name
        self.kind = kind
        self.created = created
        self.attributes = attributes
        self.value = value
    }

    /// The fields of a drop that precede its value.
    private struct Head {
        let created: UInt64
        let name: EntryName
        let kind: UInt8
        let attributes: [Attribute]

        init(_ reader: inout ByteReader) throws(Malformed) {
            created = try reader.varint()
            name = try reader.name()
            kind = try reader.byte()
            attributes = try reader.orderedAttributes()
            guard attributes.first?.key != "" else { throw Malformed("an attribute without a key") }
            guard reader.remaining == 0 else { throw Malformed("the size of its head") }
        }

        /// Returns the fields that precede a drop's value, and the value's offset, without copying the value.
        static func parse(_ plaintext: borrowing SecretBytes) throws(Malformed) -> (head: Head, end: Int) {
            try plaintext.withUnsafeBytes { (bytes) throws(Malformed) in
                guard bytes.starts(with: DropContents.magic) else { throw Malformed("its magic") }
                var start = DropContents.magic.count
                let size = try bytes.varint(at: &start)
                guard size <= min(DropContents.headSizeLimit, bytes.count - start) else {
                    throw Malformed("the size of its head")
                }
                let end = start + Int(size)
                var reader = ByteReader(Array(bytes[start..<end]))
                return (try Head(&reader), end)
            }
        }
    }

    package init(parsing plaintext: borrowing SecretBytes) throws(LogError) {
        let (head, start): (Head, Int)
        do { (head, start) = try Head.parse(plaintext) } catch { throw .damaged("its contents (\(error.what))") }
        guard plaintext.count - start <= Limits.valueSize else { throw .damaged("its size") }
        let value = try plaintext.withUnsafeBytes { (bytes) throws(LogError) in
            try translated(SecretBytes(copyOf: UnsafeRawBufferPointer(rebasing: bytes[start...])))
        }
        self.init(name: head.name, kind: head.kind, attributes: head.attributes, value: value, created: head.created)
    }

    /// Encodes the contents. Throws `invalid` if the attributes are too large for an entry, or `outOfMemory`.
    package borrowing func encoded() throws(LogError) -> SecretBytes {
        let current = StoredVersion(kind: kind, nonce: NonceSource.one(), offset: 0, length: value.count)
        let content = Entry.Content(created: created, current: current, attributes: attributes)
        try Entry(name: name, modified: created, content: content).checkSize()
        var details = ByteWriter()
        details.varint(created)
        details.name(name)
        details.byte(kind)
        details.attributes(attributes)
        var head = ByteWriter()
        head.append(DropContents.magic)
        head.varint(UInt64(details.count))
        head.append(details.bytes)
        return try translated(value.following(head.bytes, isKey: false))
    }
}
