import OneTimeCode
import Sealing

/// Reads a key from a text, without the rest of what makes a test long.
func withKey<Result>(
    _ text: String, _ body: (borrowing OneTimeKey) throws -> Result
) throws -> Result {
    try body(OneTimeKey(parsing: SecretBytes(copyOf: Array(text.utf8))))
}

/// The error that a text is refused with; nil if it is read.
func refusal(of text: String) throws -> OneTimeKeyError? {
    do throws(OneTimeKeyError) {
        guard let secret = try? SecretBytes(copyOf: Array(text.utf8)) else { return .outOfMemory }
        _ = try OneTimeKey(parsing: secret)
        return nil
    } catch { return error }
}

extension OneTimeKey {
    borrowing func text(of counter: UInt64) throws -> String {
        String(decoding: try code(of: counter).unsafeArray(), as: UTF8.self)
    }
}

/// The base32 digits of bytes, bit by bit, without padding.
func base32(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    var bits = bytes.flatMap { byte in (0..<8).reversed().map { Int(byte >> $0 & 1) } }
    while !bits.count.isMultiple(of: 5) { bits.append(0) }
    return String(
        stride(from: 0, to: bits.count, by: 5).map { start in
            alphabet[bits[start..<start + 5].reduce(0) { $0 * 2 + $1 }]
        })
}
