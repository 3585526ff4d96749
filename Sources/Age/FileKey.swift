import LinuxSystem
package import Sealing

/// The 16 random bytes from which a file's keys are derived. Each stanza of the file contains them in wrapped form.
package enum FileKey {
    @inlinable package static var size: Int { 16 }

    static let wrongSize = AgeError.malformed("a file key does not have \(size) bytes")

    package static func generate() throws(AgeError) -> SecretBytes {
        var key = try translated(SecretBytes(zeros: size, isKey: true))
        key.withUnsafeMutableBytes { RandomBytes.fill($0) }
        return key
    }

    /// Fills a key with bytes derived by HKDF-SHA256.
    static func derive(
        from secret: borrowing SecretBytes, salt: [UInt8], info: [UInt8], into key: inout SecretBytes
    ) throws(SealingError) {
        try key.withUnsafeMutableBytes { (key) throws(SealingError) in
            try withBytes(salt, secret) { (salt, secret) throws(SealingError) in
                try info.withRawBytes { (info) throws(SealingError) in
                    try HKDF.derive(from: secret, salt: salt, info: info, into: key)
                }
            }
        }
    }
}

/// Calls `body` with the public `bytes` and the bytes of `secret`, without copying either.
func withBytes<Result: ~Copyable, Failure: Error>(
    _ bytes: [UInt8], _ secret: borrowing SecretBytes,
    _ body: (_ bytes: UnsafeRawBufferPointer, _ secret: UnsafeRawBufferPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
    try secret.withUnsafeBytes { (secret) throws(Failure) in
        try bytes.withRawBytes { (bytes) throws(Failure) in try body(bytes, secret) }
    }
}

extension Base64 {
    /// Returns the decoded bytes; nil unless the digits are canonical and encode exactly `count` bytes.
    static func bytes(_ digits: [UInt8], count: Int, padding: Padding = .none) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let isRead = digits.withRawBytes { digits in
            bytes.withMutableRawBytes { Base64.decode(digits, padding: padding, into: $0) }
        }
        return isRead ? bytes : nil
    }
}

/// The textual form of an age file: strict PEM (RFC 7468). This project reads this form but never writes it.
enum Armor {
    private static let begin = Array("-----BEGIN AGE ENCRYPTED FILE-----".utf8)
    private static let end = Array("-----END AGE ENCRYPTED FILE-----".utf8)
    private static let columns = 64
    private static let invalid = AgeError.malformed("the armor of the file is invalid")

    static func isArmored(_ file: [UInt8]) -> Bool { trimmed(file).starts(with: begin) }

    /// Returns the binary age file that the text encodes. Throws `malformed` unless the text is exactly what an encoder
    /// writes, apart from surrounding white space. This strictness ensures that no change to the text goes undetected.
    static func removed(from file: [UInt8]) throws(AgeError) -> [UInt8] {
        var lines = trimmed(file).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
        guard lines.count > 2, lines.removeFirst().elementsEqual(begin), lines.removeLast().elementsEqual(end),
            let last = lines.last, (1...columns).contains(last.count),
            lines.dropLast().allSatisfy({ $0.count == columns })
        else { throw invalid }
        let padding = last.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let digits = Array(lines.joined())
        guard padding <= 2, digits.count % 4 == 0,
            let bytes = Base64.bytes(digits, count: digits.count / 4 * 3 - padding, padding: .equalSigns)
        else { throw invalid }
        return bytes
    }

    private static func trimmed(_ file: [UInt8]) -> ArraySlice<UInt8> {
        file.trimming { $0 == 0x20 || (0x09...0x0D).contains($0) }
    }
}
