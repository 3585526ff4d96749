import LinuxSystem
package import Sealing

/// The 16 random bytes that a file's keys are derived from. The stanzas of the file wrap them.
package enum FileKey {
    @inlinable package static var size: Int { 16 }

    static let wrongSize = AgeError.malformed("a file key does not have \(size) bytes")

    /// Creates a file key. Throws `outOfMemory`.
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

/// Calls `body` with public bytes and a secret, without copying them.
func withBytes<Result: ~Copyable, Failure: Error>(
    _ bytes: [UInt8], _ secret: borrowing SecretBytes,
    _ body: (_ bytes: UnsafeRawBufferPointer, _ secret: UnsafeRawBufferPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
    try secret.withUnsafeBytes { (secret) throws(Failure) in
        try bytes.withRawBytes { (bytes) throws(Failure) in try body(bytes, secret) }
    }
}
