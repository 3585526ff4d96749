import LinuxSystem
import Sealing

/// What a record begins with, in the clear: how long its parts are. Format.md, "Record".
struct Frame: Hashable, Sendable {
    static let magic: [UInt8] = Array("vrec".utf8)
    static let size = 24
    /// The same, from one offset where a record may begin to another.
    static let alignedSize = 32
    /// Frame and nonce.
    static let headSize = size + Nonce.size
    private static let checkedSize = 16

    let indexLength: Int
    let payloadLength: UInt64

    init(indexLength: Int, payloadLength: UInt64) {
        self.indexLength = indexLength
        self.payloadLength = payloadLength
    }

    /// nil unless the bytes begin with a frame whose magic and checksum hold.
    init?(_ bytes: UnsafeRawBufferPointer, vaultID: [UInt8]) {
        guard bytes.count >= Frame.size, bytes.starts(with: Frame.magic) else { return nil }
        let index = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        let payload = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        let written = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        let checked = UnsafeRawBufferPointer(rebasing: bytes[..<Frame.checkedSize])
        let sum = try? vaultID.withUnsafeBytes { try ShortHash.hash(checked, key: $0) }
        guard sum == written, index.isMultiple(of: 16), index >= 32, index <= Limits.indexSize,
            payload.isMultiple(of: 16), payload < Limits.payloadSize
        else { return nil }
        indexLength = Int(index)
        payloadLength = payload
    }

    /// The whole record's length.
    var recordLength: UInt64 { UInt64(Frame.headSize + indexLength) + payloadLength }

    func encoded(vaultID: [UInt8]) throws(LogError) -> [UInt8] {
        var writer = ByteWriter(reserving: Frame.headSize)
        writer.append(Frame.magic)
        writer.integer(UInt32(indexLength))
        writer.integer(payloadLength)
        do throws(SealingError) {
            let sum = try writer.bytes.withRawBytes { (bytes) throws(SealingError) in
                try vaultID.withRawBytes { (key) throws(SealingError) in try ShortHash.hash(bytes, key: key) }
            }
            writer.integer(sum)
        } catch { throw LogError(error) }
        return writer.bytes
    }
}
