private import CSodium

/// SipHash-2-4 through libsodium's `crypto_shorthash`: a checksum against accidents, not a proof against anyone who
/// knows its key.
package enum ShortHash {
    @inlinable package static var keySize: Int { 16 }

    /// - Throws: ``SealingError/Code/length`` unless the key has 16 bytes.
    package static func hash(
        _ bytes: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
    ) throws(SealingError) -> UInt64 {
        guard key.count == keySize else { throw SealingError(.length) }
        var output: UInt64 = 0
        let status = withUnsafeMutableBytes(of: &output) {
            crypto_shorthash($0.pointer, bytes.pointer, UInt64(bytes.count), key.pointer)
        }
        guard status == 0 else { throw SealingError(.length) }
        return UInt64(littleEndian: output)
    }
}
