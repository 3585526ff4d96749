import Sealing

/// The first 4,096 bytes of a vault; Format.md, "Header".
struct Header: Hashable, Sendable {
    static let magic: [UInt8] = [0x89, 0x56, 0x4C, 0x54, 0x0D, 0x0A, 0x1A, 0x0A]
    static let version: UInt32 = 1
    static let size = 4_096
    static let identifierSize = 16
    static let slotsOffset = 256
    static let macOffset = 4_032
    static let hintOffset = 4_064
    /// The offset of the header's copy in the file.
    static let copyOffset = size

    var vaultID: [UInt8]
    var sequence: UInt64
    /// nil if the checkpoint has no entries.
    var root: PageReference?
    var manifest: PageReference
    var checkpointEnd: UInt64
    var slots: [KeySlot]
}

/// A wrapped copy of the data key; Format.md, "Key slot".
struct KeySlot: Hashable, Sendable {
    static let wrappedSize = 80
    /// The size of a sealed data key. Only a public-key slot uses all of `wrappedSize`.
    static let wrappedKeySize = SecretBox.keySize + SecretBox.tagSize

    /// Kept as it is if this version does not know it.
    var kind: UInt8
    var salt: [UInt8]
    var limits: KeyDerivation.StretchLimits
    var nonce: Nonce
    var wrapped: [UInt8]
}

/// The location of the newest minor checkpoint, not authenticated.
struct Hint: Hashable, Sendable {
    static let size = 32

    let offset: UInt64
    let sequence: UInt64
}

// MARK: - Coding

extension Header {
    /// Reads a header without checking its MAC.
    ///
    /// - Throws: `damaged`, or `newerFormat` for a later version.
    init(parsing bytes: [UInt8]) throws(LogError) {
        guard bytes.count == Header.size, bytes.starts(with: Header.magic) else {
            throw LogError.damaged("it does not begin as a vault does")
        }
        var reader = ByteReader(bytes, in: Header.magic.count..<Header.macOffset)
        var version: UInt32 = 0
        do throws(Malformed) {
            version = try reader.integer()
            guard version == Header.version else { throw Malformed("its version") }
            self = try reader.header()
        } catch {
            if version > Header.version { throw LogError(.newerFormat, "version \(version)") }
            throw LogError.damaged("the header (\(error.what))")
        }
    }

    /// The bytes up to the MAC.
    var encoded: [UInt8] {
        var writer = ByteWriter(reserving: Header.size)
        writer.append(Header.magic)
        writer.integer(Header.version)
        writer.integer(UInt32(slots.count))
        writer.append(vaultID)
        writer.integer(sequence)
        writer.headerReference(root)
        writer.headerReference(manifest)
        writer.integer(checkpointEnd)
        writer.zeros(Header.slotsOffset - writer.count)
        for slot in slots { writer.keySlot(slot) }
        writer.zeros(Header.macOffset - writer.count)
        return writer.bytes
    }

    /// Reads the hint of a header's bytes.
    static func hint(in bytes: [UInt8]) -> Hint? {
        var reader = ByteReader(bytes, in: hintOffset..<size)
        guard let offset: UInt64 = try? reader.integer(), let sequence: UInt64 = try? reader.integer(), offset > 0
        else { return nil }
        return Hint(offset: offset, sequence: sequence)
    }

    /// Returns whether the second half of a file's first 8,192 bytes is the copy of the first.
    static func copyHolds(in image: [UInt8]) -> Bool {
        let copy = image[copyOffset...]
        return image[..<hintOffset].elementsEqual(copy.prefix(hintOffset))
            && copy.dropFirst(hintOffset).allSatisfy { $0 == 0 }
    }
}

extension Hint {
    var encoded: [UInt8] {
        var writer = ByteWriter(reserving: Hint.size)
        writer.integer(offset)
        writer.integer(sequence)
        writer.zeros(16)
        return writer.bytes
    }
}

extension ByteReader {
    fileprivate mutating func header() throws(Malformed) -> Header {
        let slotCount: UInt32 = try integer()
        guard (1...UInt32(Limits.slotCount)).contains(slotCount) else { throw Malformed("the number of key slots") }
        let vaultID = try array(Header.identifierSize)
        let sequence: UInt64 = try integer()
        let root = try headerReference(upTo: Limits.pageSize)
        guard let manifest = try headerReference(upTo: Limits.indexSize) else { throw Malformed("the manifest") }
        let checkpointEnd: UInt64 = try integer()
        guard sequence < Limits.sequence else { throw Malformed("its sequence number") }
        guard checkpointEnd.isMultiple(of: 16), checkpointEnd >= Limits.checkpointStart,
            checkpointEnd < Limits.sequence,
            manifest.isWithin(Limits.checkpointStart..<checkpointEnd),
            root?.isWithin(Limits.checkpointStart..<checkpointEnd) ?? true
        else { throw Malformed("the end of the checkpoint") }
        try reserved(Header.slotsOffset - position)
        var slots: [KeySlot] = []
        for _ in 0..<slotCount { slots.append(try keySlot()) }
        try reserved(remaining)
        return Header(
            vaultID: vaultID, sequence: sequence, root: root, manifest: manifest, checkpointEnd: checkpointEnd,
            slots: slots)
    }

    private mutating func headerReference(upTo limit: Int) throws(Malformed) -> PageReference? {
        let offset: UInt64 = try integer()
        let length: UInt64 = try integer()
        let nonce = try nonce()
        if offset == 0, length == 0 { return nil }
        guard offset.isMultiple(of: 16), length.isMultiple(of: 16), offset < Limits.sequence, length > 16,
            length <= UInt64(limit)
        else { throw Malformed("an offset in the header") }
        return PageReference(offset: offset, length: Int(length), nonce: nonce)
    }

    mutating func keySlot() throws(Malformed) -> KeySlot {
        let kind = try byte()
        try reserved(7)
        let slot = KeySlot(
            kind: kind, salt: try array(KeyDerivation.saltSize),
            limits: KeyDerivation.StretchLimits(passes: try integer(), memory: try integer()), nonce: try nonce(),
            wrapped: try array(KeySlot.wrappedSize))
        try reserved(16)
        let isShort = (1...4).contains(kind)
        guard !isShort || slot.wrapped[KeySlot.wrappedKeySize...].allSatisfy({ $0 == 0 }) else {
            throw Malformed("reserved bytes")
        }
        // Kinds 1 and 5 do not use Argon2id.
        let isStretched = slot.limits.passes != 0 || slot.limits.memory != 0
        guard kind != 1 && kind != 5 || !isStretched else { throw Malformed("a slot's limits") }
        return slot
    }
}

extension ByteWriter {
    fileprivate mutating func headerReference(_ reference: PageReference?) {
        guard let reference else { return zeros(16 + Nonce.size) }
        integer(reference.offset)
        integer(UInt64(reference.length))
        nonce(reference.nonce)
    }

    fileprivate mutating func keySlot(_ slot: KeySlot) {
        byte(slot.kind)
        zeros(7)
        append(slot.salt)
        integer(slot.limits.passes)
        integer(slot.limits.memory)
        nonce(slot.nonce)
        append(slot.wrapped)
        zeros(16)
    }
}
