import Sealing

extension Header {
    /// Reads a header, without judging whether it is authentic.
    ///
    /// - Throws: `damaged`, or `newerFormat` for a later version.
    init(parsing bytes: [UInt8]) throws(LogError) {
        guard bytes.count == Header.size, bytes.starts(with: Header.magic) else {
            throw LogError.damaged("it does not begin as a vault does")
        }
        var reader = ByteReader(bytes, in: Header.magic.count..<Header.macPlace)
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
        writer.extent(root.map { SealedExtent(offset: $0.offset, length: $0.length, nonce: $0.nonce) })
        writer.extent(manifest)
        writer.integer(checkpointEnd)
        writer.zeros(Header.slotsPlace - writer.count)
        for slot in slots { writer.keySlot(slot) }
        writer.zeros(Header.macPlace - writer.count)
        return writer.bytes
    }

    /// The hint of a header's bytes, whatever it says.
    static func hint(in bytes: [UInt8]) -> Hint? {
        var reader = ByteReader(bytes, in: hintPlace..<size)
        guard let offset: UInt64 = try? reader.integer(), let sequence: UInt64 = try? reader.integer(), offset > 0
        else { return nil }
        return Hint(offset: offset, sequence: sequence)
    }
}

extension ByteReader {
    fileprivate mutating func header() throws(Malformed) -> Header {
        let slotCount: UInt32 = try integer()
        guard (1...UInt32(Limits.slotCount)).contains(slotCount) else { throw Malformed("the number of key slots") }
        let vaultID = try array(Header.identifierSize)
        let sequence: UInt64 = try integer()
        let root = try extent(upTo: Limits.pageSize)
        guard let manifest = try extent(upTo: Limits.indexSize) else { throw Malformed("the manifest") }
        let checkpointEnd: UInt64 = try integer()
        guard sequence < Limits.sequence else { throw Malformed("its sequence number") }
        guard checkpointEnd.isMultiple(of: 16), checkpointEnd >= Limits.checkpointStart,
            checkpointEnd < Limits.sequence,
            manifest.isWithin(Limits.checkpointStart..<checkpointEnd),
            root?.isWithin(Limits.checkpointStart..<checkpointEnd) ?? true
        else { throw Malformed("the end of the checkpoint") }
        try reserved(Header.slotsPlace - position)
        var slots: [KeySlot] = []
        for _ in 0..<slotCount { slots.append(try keySlot()) }
        try reserved(remaining)
        return Header(
            vaultID: vaultID, sequence: sequence,
            root: root.map { PageReference(offset: $0.offset, length: $0.length, nonce: $0.nonce) },
            manifest: manifest, checkpointEnd: checkpointEnd, slots: slots)
    }

    private mutating func extent(upTo limit: Int) throws(Malformed) -> SealedExtent? {
        let offset: UInt64 = try integer()
        let length: UInt64 = try integer()
        let nonce = try nonce()
        if offset == 0, length == 0 { return nil }
        guard offset.isMultiple(of: 16), length.isMultiple(of: 16), offset < Limits.sequence, length > 16,
            length <= UInt64(limit)
        else { throw Malformed("an offset in the header") }
        return SealedExtent(offset: offset, length: Int(length), nonce: nonce)
    }
}

extension ByteWriter {
    fileprivate mutating func extent(_ extent: SealedExtent?) {
        guard let extent else { return zeros(16 + Nonce.size) }
        integer(extent.offset)
        integer(UInt64(extent.length))
        nonce(extent.nonce)
    }
}
