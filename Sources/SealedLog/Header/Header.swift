import Sealing

/// The first 4,096 bytes of a vault, and their copy behind them; Format.md, "Header".
struct Header: Hashable, Sendable {
    static let magic: [UInt8] = [0x89, 0x56, 0x4C, 0x54, 0x0D, 0x0A, 0x1A, 0x0A]
    static let version: UInt32 = 1
    static let size = Limits.headerSize
    static let copyPlace = size
    static let macPlace = 4_032
    static let hintPlace = 4_064
    static let slotsPlace = 256

    var vaultID: [UInt8]
    var sequence: UInt64
    /// nil if the checkpoint holds no entries.
    var root: PageReference?
    var manifest: SealedExtent
    var checkpointEnd: UInt64
    var slots: [KeySlot]

    static let identifierSize = 16
}

/// Where a sealed thing of any size lies.
struct SealedExtent: Hashable, Sendable {
    let offset: UInt64
    let length: Int
    let nonce: Nonce

    func isWithin(_ range: Range<UInt64>) -> Bool {
        offset >= range.lowerBound && offset <= range.upperBound && range.upperBound - offset >= UInt64(length)
    }
}

/// The unauthenticated guess where the newest minor checkpoint is.
struct Hint: Hashable, Sendable {
    static let size = 32

    let offset: UInt64
    let sequence: UInt64

    var encoded: [UInt8] {
        var writer = ByteWriter(reserving: Hint.size)
        writer.integer(offset)
        writer.integer(sequence)
        writer.zeros(16)
        return writer.bytes
    }
}
