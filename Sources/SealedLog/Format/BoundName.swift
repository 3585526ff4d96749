import Sealing

/// The name to which a vault in a database is bound; Format.md, "The name".
///
/// The header's MAC does not cover the name, so the header's authenticator does not depend on it. A copy under another
/// name therefore has the same log positions.
struct BoundName: Hashable, Sendable {
    static let offset = 140
    /// The size of the encoding in bytes: the hash, the number `copied` and the code.
    static let size = KeyedHash.size + MemoryLayout<UInt64>.size + KeyedHash.size
    static let bytes = offset..<offset + size
    static let markSize = 16

    let hash: [UInt8]
    /// The sequence number of the newest record that was copied to this name. Records up to it may state any name.
    let copied: UInt64
    /// The code that authenticates the hash and `copied` together with the header.
    let code: [UInt8]

    /// The prefix of the hash, which every record under this name states.
    var mark: [UInt8] { Array(hash[..<BoundName.markSize]) }

    /// Returns whether a record may follow a header with this name. A copy under another name has the same keys and log
    /// positions, so its records would otherwise be accepted after this header.
    static func admits(_ index: RecordIndex, under name: BoundName?) -> Bool {
        if let name, index.sequence <= name.copied { return true }
        return index.name == name?.mark
    }
}

// MARK: - Coding

extension ByteReader {
    /// Reads a name. Returns nil if all its bytes are zero.
    mutating func boundName() throws(Malformed) -> BoundName? {
        let name = BoundName(hash: try array(KeyedHash.size), copied: try integer(), code: try array(KeyedHash.size))
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
    /// Returns a header's bytes with zeros in place of the name.
    static func removed(from image: [UInt8]) -> [UInt8] {
        var image = image
        image.replaceSubrange(bytes, with: repeatElement(0, count: size))
        return image
    }

    /// Writes the name into the header and its copy. `image` begins with both.
    func write(to image: inout [UInt8]) {
        var writer = ByteWriter(reserving: BoundName.size)
        writer.boundName(self)
        for start in [0, Header.copyOffset] {
            let range = start + BoundName.offset..<start + BoundName.offset + BoundName.size
            image.replaceSubrange(range, with: writer.bytes)
        }
    }
}
