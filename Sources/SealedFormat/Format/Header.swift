import Sealing

/// The first 4,096 bytes of a vault; see Format.md, "Header".
package struct Header: Hashable, Sendable {
    package static let magic: [UInt8] = [0x89, 0x56, 0x4C, 0x54, 0x0D, 0x0A, 0x1A, 0x0A]
    static let version: UInt32 = 1
    package static let size = 4_096
    package static let identifierSize = 16
    package static let slotsOffset = 256
    package static let parametersOffset = slotsOffset + Limits.slotCount * KeySlot.size
    package static let macOffset = 4_032
    package static let hintOffset = 4_064
    package static let copyOffset = size
    private static let accessLogFlag: UInt32 = 1
    private static let membersFlag: UInt32 = 2

    package var vaultID: [UInt8]
    package var sequence: UInt64
    /// The root page of the checkpoint's tree; nil if the checkpoint has no entries.
    package var root: PageReference?
    package var manifest: PageReference
    package var checkpointEnd: UInt64
    package var history = KeptHistory.none
    package var isAccessLogged = false
    /// Whether the vault has members, who sign their changes. The manifest lists the member changes.
    package var hasMembers = false
    /// The name to which the vault is bound; nil if it is not bound. The header's MAC does not cover the name.
    package var name: BoundName?
    package var slots: [KeySlot]

    package init(
        vaultID: [UInt8], sequence: UInt64, root: PageReference? = nil, manifest: PageReference, checkpointEnd: UInt64,
        history: KeptHistory = KeptHistory.none, isAccessLogged: Bool = false, hasMembers: Bool = false,
        name: BoundName? = nil, slots: [KeySlot]
    ) {
        self.vaultID = vaultID
        self.sequence = sequence
        self.root = root
        self.manifest = manifest
        self.checkpointEnd = checkpointEnd
        self.history = history
        self.isAccessLogged = isAccessLogged
        self.hasMembers = hasMembers
        self.name = name
        self.slots = slots
    }
}

/// The limits on the history of each entry; see Format.md, "Header". If `versions` is 0, no history is kept.
package struct KeptHistory: Hashable, Sendable {
    /// The number of earlier versions that an entry may have, at most 255.
    package var versions: UInt32
    /// The number of days to keep a value after it has been replaced or removed.
    package var days: UInt32

    package init(versions: UInt32, days: UInt32) {
        self.versions = versions
        self.days = days
    }

    package static let none = KeptHistory(versions: 0, days: 0)
    package static let standard = KeptHistory(versions: 10, days: 90)
}

/// The unauthenticated offset and sequence number of the newest minor checkpoint.
package struct Hint: Hashable, Sendable {
    package static let size = 16
    package static let range = UInt64(Header.hintOffset)..<UInt64(Header.hintOffset + size)

    package let offset: UInt64
    package let sequence: UInt64

    package init(offset: UInt64, sequence: UInt64) {
        self.offset = offset
        self.sequence = sequence
    }
}

extension Header {
    /// Reads a header without checking its MAC. Throws `damaged`, or `newerFormat` if its version is too new.
    package init(parsing bytes: [UInt8]) throws(LogError) {
        guard bytes.count == Header.size, bytes.starts(with: Header.magic) else {
            throw .damaged("it does not begin with the magic of a vault")
        }
        let version: UInt32 = bytes.withUnsafeBytes { $0.integer(at: Header.magic.count) }
        guard version <= Header.version else { throw LogError(.newerFormat, "version \(version)") }
        do throws(Malformed) {
            guard version == Header.version else { throw Malformed("its version") }
            self = try Header(fieldsIn: bytes)
            guard bytes.starts(with: encoded) else { throw Malformed("reserved bytes") }
            try check()
        } catch { throw .damaged("the header (\(error.what))") }
    }

    /// Returns the header's 4,096 bytes with all constants restored, and undefined flags and the hint cleared; nil if a
    /// field is out of range. The constants come from ``encoded``, so the repair cannot miss one.
    package static func repaired(_ bytes: [UInt8]) -> [UInt8]? {
        guard let fields = try? Header(fieldsIn: bytes) else { return nil }
        return fields.encoded + bytes[macOffset..<hintOffset] + [UInt8](repeating: 0, count: size - hintOffset)
    }

    /// Reads the header's fields in the order in which ``encoded`` writes them. Ignores everything that
    /// ``repaired(_:)`` restores: the magic, the version, reserved bytes, and the offsets of the slots' parameters.
    private init(fieldsIn bytes: [UInt8]) throws(Malformed) {
        var reader = ByteReader(bytes, in: Header.magic.count + MemoryLayout<UInt32>.size..<Header.macOffset)
        let slotCount = try reader.smallNumber()
        guard (1...UInt32(Limits.slotCount)).contains(slotCount) else { throw Malformed("the number of key slots") }
        vaultID = try reader.array(Header.identifierSize)
        sequence = try reader.integer()
        root = try reader.headerReference()
        manifest = try reader.headerReference()
        checkpointEnd = try reader.integer()
        history = KeptHistory(versions: try reader.smallNumber(), days: try reader.integer())
        let flags: UInt32 = try reader.integer()
        isAccessLogged = flags & Header.accessLogFlag != 0
        hasMembers = flags & Header.membersFlag != 0
        name = try reader.boundName()
        try reader.skip(Header.slotsOffset - reader.position)
        slots = []
        for _ in 0..<slotCount { slots.append(try reader.keySlot(in: bytes, after: slots)) }
    }

    /// Checks that the header's fields are valid. Sets `root` to nil if its offset and length are both 0.
    private mutating func check() throws(Malformed) {
        guard sequence < Limits.sequence else { throw Malformed("its sequence number") }
        if root?.offset == 0, root?.length == 0 { root = nil }
        guard checkpointEnd.isMultiple(of: 16), checkpointEnd >= Limits.checkpointStart, checkpointEnd < Limits.sequence
        else { throw Malformed("the end of the checkpoint") }
        try root?.check(upTo: Limits.pageSize, before: checkpointEnd)
        try manifest.check(upTo: Limits.indexSize, before: checkpointEnd)
        guard Set(slots.map(\.salt)).count == slots.count else { throw Malformed("the salts of the key slots") }
    }

    /// The header's bytes up to the MAC.
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
        writer.boundName(name)
        writer.zeros(Header.slotsOffset - writer.count)
        for index in slots.indices { writer.keySlot(slots[index], parametersOffset: slots[..<index].parametersSize) }
        writer.zeros(Header.parametersOffset - writer.count)
        for slot in slots { writer.append(slot.parameters) }
        writer.zeros(Header.macOffset - writer.count)
        return writer.bytes
    }

    package static func hint(in bytes: [UInt8]) -> Hint? {
        var reader = ByteReader(bytes, in: hintOffset..<size)
        guard let offset: UInt64 = try? reader.integer(), let sequence: UInt64 = try? reader.integer(), offset > 0
        else { return nil }
        return Hint(offset: offset, sequence: sequence)
    }

    package static func haveOneVersion(in image: [UInt8]) -> Bool {
        let size = magic.count + MemoryLayout<UInt32>.size
        return image[..<size] == image[copyOffset..<copyOffset + size]
    }

    /// Returns whether the copy of the header matches the header up to the hint, and contains only zeros after that.
    package static func copyHolds(in image: [UInt8]) -> Bool {
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

extension PageReference {
    fileprivate func check(upTo limit: Int, before end: UInt64) throws(Malformed) {
        guard offset.isMultiple(of: 16), length.isMultiple(of: 16), (17...limit).contains(length),
            offset < Limits.sequence
        else { throw Malformed("an offset in the header") }
        guard (Limits.checkpointStart..<end).contains(box) else { throw Malformed("the end of the checkpoint") }
    }
}

extension ByteReader {
    fileprivate mutating func headerReference() throws(Malformed) -> PageReference {
        let offset = try integer(UInt64.self)
        let length = try integer(Int.self)
        return PageReference(offset: offset, length: length, nonce: try nonce())
    }

    /// Reads a `u32` whose value is at most 255. Ignores the upper bytes, which writers set to zero.
    fileprivate mutating func smallNumber() throws(Malformed) -> UInt32 { try integer() & 0xff }
}

extension ByteWriter {
    fileprivate mutating func headerReference(_ reference: PageReference?) {
        guard let reference else { return zeros(16 + Nonce.size) }
        integer(reference.offset)
        integer(reference.length)
        nonce(reference.nonce)
    }
}
