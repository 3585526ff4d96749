/// A record as its first bytes describe it, which anyone can read; Format.md, "Records".
struct WrittenRecord: Equatable {
    let range: Range<Int>
    let authenticator: [UInt8]

    private static let magic = Array("vrec".utf8)
    private static let headSize = 48
    private static let authenticatorSize = 16

    /// nil for other bytes.
    init?(_ bytes: [UInt8], at offset: Int) {
        guard bytes.count >= WrittenRecord.headSize + WrittenRecord.authenticatorSize,
            bytes.starts(with: WrittenRecord.magic)
        else { return nil }
        func number(_ range: Range<Int>) -> Int { bytes[range].reversed().reduce(0) { $0 << 8 | Int($1) } }
        range = offset..<offset + WrittenRecord.headSize + number(4..<8) + number(8..<16)
        authenticator = Array(bytes[WrittenRecord.headSize...].prefix(WrittenRecord.authenticatorSize))
    }

    /// Whether it is still in a file with these bytes.
    func isThere(in bytes: [UInt8]) -> Bool {
        let found = bytes.dropFirst(range.lowerBound + WrittenRecord.headSize).prefix(authenticator.count)
        return found.elementsEqual(authenticator)
    }
}
