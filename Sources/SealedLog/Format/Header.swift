import Sealing

/// The first 4,096 bytes of a vault; Format.md, "Header".
struct Header: Hashable, Sendable {
    static let magic: [UInt8] = [0x89, 0x56, 0x4C, 0x54, 0x0D, 0x0A, 0x1A, 0x0A]
    static let version: UInt32 = 1
    static let size = 4_096
    static let identifierSize = 16
    static let slotsOffset = 256
    static let parametersOffset = slotsOffset + Limits.slotCount * KeySlot.size
    static let macOffset = 4_032
    static let hintOffset = 4_064
    static let copyOffset = size
    private static let accessLogFlag: UInt32 = 1
    private static let membersFlag: UInt32 = 2

    var vaultID: [UInt8]
    var sequence: UInt64
    /// nil if the checkpoint has no entries.
    var root: PageReference?
    var manifest: PageReference
    var checkpointEnd: UInt64
    var history = KeptHistory.none
    /// Whether reads of the vault's values are recorded.
    var isAccessLogged = false
    /// Whether changes are signed by members, whom the manifest names.
    var hasMembers = false
    var slots: [KeySlot]
}

/// How much of a name's history is kept; Format.md, "Header". Zero versions keep none.
package struct KeptHistory: Hashable, Sendable {
    /// At most 255.
    package var versions: UInt32
    /// For how long after it was replaced or removed a value is kept.
    package var days: UInt32

    package init(versions: UInt32, days: UInt32) { (self.versions, self.days) = (versions, days) }

    package static let none = KeptHistory(versions: 0, days: 0)
    package static let standard = KeptHistory(versions: 10, days: 90)
}

/// The location of the newest minor checkpoint, not authenticated.
package struct Hint: Hashable, Sendable {
    package static let size = 16
    /// The bytes of a store that have it.
    package static let place = UInt64(Header.hintOffset)..<UInt64(Header.hintOffset + size)

    package let offset: UInt64
    package let sequence: UInt64

    package init(offset: UInt64, sequence: UInt64) { (self.offset, self.sequence) = (offset, sequence) }
}

// MARK: - Coding

extension Header {
    /// Reads a header without checking its MAC. Throws `damaged`, or `newerFormat` for a later version.
    init(parsing bytes: [UInt8]) throws(LogError) {
        guard bytes.count == Header.size, bytes.starts(with: Header.magic) else {
            throw .damaged("it does not begin as a vault does")
        }
        let version: UInt32 = bytes.withUnsafeBytes { $0.integer(at: Header.magic.count) }
        guard version <= Header.version else { throw LogError(.newerFormat, "version \(version)") }
        do throws(Malformed) {
            var reader = ByteReader(bytes, in: Header.magic.count..<Header.macOffset)
            guard try reader.integer() == Header.version else { throw Malformed("its version") }
            let slotCount: UInt32 = try reader.integer()
            guard (1...UInt32(Limits.slotCount)).contains(slotCount) else { throw Malformed("the number of key slots") }
            vaultID = try reader.array(Header.identifierSize)
            sequence = try reader.integer()
            let root = try reader.headerReference(upTo: Limits.pageSize)
            let manifest = try reader.headerReference(upTo: Limits.indexSize)
            guard let manifest else { throw Malformed("the manifest") }
            let end: UInt64 = try reader.integer()
            guard sequence < Limits.sequence else { throw Malformed("its sequence number") }
            guard end.isMultiple(of: 16), end >= Limits.checkpointStart, end < Limits.sequence,
                case let checkpoint = Limits.checkpointStart..<end, checkpoint.contains(manifest.box),
                root.map({ checkpoint.contains($0.box) }) ?? true
            else { throw Malformed("the end of the checkpoint") }
            (self.root, self.manifest, checkpointEnd) = (root, manifest, end)
            history = KeptHistory(versions: try reader.integer(), days: try reader.integer())
            guard history.versions <= Limits.earlierVersionCount else { throw Malformed("the history's limits") }
            let flags: UInt32 = try reader.integer()
            guard flags & ~(Header.accessLogFlag | Header.membersFlag) == 0 else { throw Malformed("its flags") }
            (isAccessLogged, hasMembers) = (flags & Header.accessLogFlag != 0, flags & Header.membersFlag != 0)
            try reader.reserved(Header.slotsOffset - reader.position)
            slots = []
            for _ in 0..<slotCount { slots.append(try reader.keySlot(in: bytes, after: slots)) }
            try reader.reserved(Header.parametersOffset - reader.position)
            try reader.skip(slots.parametersSize)
            try reader.reserved(reader.remaining)
            guard slots.allSatisfy({ slot in slots.count { $0.salt == slot.salt } == 1 }) else {
                throw Malformed("the salts of the key slots")
            }
        } catch { throw .damaged("the header (\(error.what))") }
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
        writer.integer(history.versions)
        writer.integer(history.days)
        writer.integer((isAccessLogged ? Header.accessLogFlag : 0) | (hasMembers ? Header.membersFlag : 0))
        writer.zeros(Header.slotsOffset - writer.count)
        for index in slots.indices { writer.keySlot(slots[index], parametersOffset: slots[..<index].parametersSize) }
        writer.zeros(Header.parametersOffset - writer.count)
        for slot in slots { writer.append(slot.parameters) }
        writer.zeros(Header.macOffset - writer.count)
        return writer.bytes
    }

    static func hint(in bytes: [UInt8]) -> Hint? {
        var reader = ByteReader(bytes, in: hintOffset..<size)
        guard let offset: UInt64 = try? reader.integer(), let sequence: UInt64 = try? reader.integer(), offset > 0
        else { return nil }
        return Hint(offset: offset, sequence: sequence)
    }

    /// Returns whether the second half of a file's first 8,192 bytes is the copy of the first.
    static func copyHolds(in image: [UInt8]) -> Bool {
        let copy = image[copyOffset...]
        return image[..<hintOffset] == copy.prefix(hintOffset) && copy.dropFirst(hintOffset).allSatisfy { $0 == 0 }
    }
}

extension Hint {
    package var encoded: [UInt8] {
        var writer = ByteWriter(reserving: Hint.size)
        writer.integer(offset)
        writer.integer(sequence)
        return writer.bytes
    }
}

extension ByteReader {
    fileprivate mutating func headerReference(upTo limit: Int) throws(Malformed) -> PageReference? {
        let (offset, length) = (try integer(UInt64.self), try integer(UInt64.self))
        let nonce = try nonce()
        if offset == 0, length == 0 { return nil }
        guard offset.isMultiple(of: 16), length.isMultiple(of: 16), offset < Limits.sequence,
            (17...UInt64(limit)).contains(length)
        else { throw Malformed("an offset in the header") }
        return PageReference(offset: offset, length: Int(length), nonce: nonce)
    }

}

extension ByteWriter {
    fileprivate mutating func headerReference(_ reference: PageReference?) {
        guard let reference else { return zeros(16 + Nonce.size) }
        integer(reference.offset)
        integer(UInt64(reference.length))
        nonce(reference.nonce)
    }
}
