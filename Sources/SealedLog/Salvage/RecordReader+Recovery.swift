import Sealing

extension RecordReader {
    /// Indexes with more bytes are not looked for behind a failing frame: the work grows with the square. Writers make
    /// hardly any.
    private static let recoveredSize = Limits.inlineIndexSize + 1 << 10

    /// A record whose frame does not hold, by the index behind it. The index has a tag, and says where the payload
    /// ends; so its own length, which the frame would say, can be tried out.
    ///
    /// - Parameter budget: bytes that may still be authenticated in vain.
    mutating func recordBehindFrame(at offset: UInt64, _ budget: inout Int) throws(LogError) -> Record? {
        let bytes = Array(try bytes(at: offset, upTo: Frame.headSize + RecordReader.recoveredSize))
        guard bytes.count > Frame.headSize else { return nil }
        let nonce = RecordReader.nonce(inHead: bytes[..<Frame.headSize])
        for length in stride(from: 32, through: bytes.count - Frame.headSize, by: 16) {
            guard budget >= length else { return nil }
            budget -= length
            let box = bytes[Frame.headSize..<Frame.headSize + length]
            guard let plaintext = box.withUnsafeBytes({ keys.open($0, for: .record, nonce: nonce) }) else { continue }
            guard let index = try? RecordIndex(parsing: plaintext) else { return nil }
            let start = offset + UInt64(Frame.headSize + length)
            let end = index.namedEnd(ofPayloadAt: start)
            guard end >= start, end - start < Limits.payloadSize else { return nil }
            return Record(
                offset: offset, frame: Frame(indexLength: length, payloadLength: end - start), index: index,
                authenticator: box.withUnsafeBytes { Authenticator($0) })
        }
        return nil
    }
}
