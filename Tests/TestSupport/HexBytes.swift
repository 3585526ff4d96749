/// Bytes that a vector file contains as hexadecimal digits.
package struct HexBytes: Decodable, Sendable {
    package let bytes: [UInt8]

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let digits = Array(try container.decode(String.self).utf8)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
        guard bytes.count * 2 == digits.count else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not pairs of hex digits")
        }
        self.bytes = bytes
    }
}
