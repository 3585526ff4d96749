import Sealing

/// The name to which a vault in a database is bound; Format.md, "The name".
///
/// It is apart from the header's MAC, and so from the header's authenticator: a copy under another name has the same
/// history, byte by byte.
struct BoundName: Hashable, Sendable {
    static let offset = 140
    /// That of the hash, of the number, and of the code.
    static let size = KeyedHash.size + MemoryLayout<UInt64>.size + KeyedHash.size
    static let bytes = offset..<offset + size
    /// How much of the hash records repeat.
    static let markSize = 16

    /// The hash of the name.
    let hash: [UInt8]
    /// Records up to this number were written before the vault was copied to this name.
    let copied: UInt64
    /// Authenticates the others together with the header.
    let code: [UInt8]

    /// The part of the hash that each record under this name states.
    var mark: [UInt8] { Array(hash[..<BoundName.markSize]) }

    init(hash: [UInt8], copied: UInt64, code: [UInt8]) {
        (self.hash, self.copied, self.code) = (hash, copied, code)
    }

    /// Whether a record may be where it is: a copy of the vault under another name goes on with other records, of the
    /// same keys and behind the same header.
    static func admits(_ index: RecordIndex, under name: BoundName?) -> Bool {
        if let name, index.sequence <= name.copied { return true }
        return index.name == name?.mark
    }
}

// MARK: - Coding

extension ByteReader {
    /// Reads a name; nil for zeros.
    mutating func boundName() throws(Malformed) -> BoundName? {
        let name = BoundName(
            hash: try array(KeyedHash.size), copied: try integer(), code: try array(KeyedHash.size))
        let isNone = name.copied == 0 && (name.hash + name.code).allSatisfy { $0 == 0 }
        return isNone ? nil : name
    }
}

extension ByteWriter {
    mutating func boundName(_ name: BoundName?) {
        guard let name else { return zeros(BoundName.size) }
        append(name.hash)
        integer(name.copied)
        append(name.code)
    }
}

extension BoundName {
    /// Returns a header's bytes without a name.
    static func removed(from image: [UInt8]) -> [UInt8] {
        var image = image
        image.replaceSubrange(bytes, with: repeatElement(0, count: size))
        return image
    }

    /// Puts it into the first bytes of a vault, the header and its copy.
    func write(to image: inout [UInt8]) {
        var writer = ByteWriter(reserving: BoundName.size)
        writer.boundName(self)
        for start in [0, Header.copyOffset] {
            let range = start + BoundName.offset..<start + BoundName.offset + BoundName.size
            image.replaceSubrange(range, with: writer.bytes)
        }
    }
}
