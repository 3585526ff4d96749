private import CSodium

/// Diffie-Hellman on Curve25519 (RFC 7748): libsodium's `crypto_scalarmult`.
package enum X25519 {
    /// The size of secret keys, public keys and shared secrets in bytes.
    @inlinable package static var keySize: Int { 32 }

    /// Writes the public key of a secret key. Throws ``SealingError/Code/length`` unless both have 32 bytes.
    package static func publicKey(
        of secretKey: UnsafeRawBufferPointer, into publicKey: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard secretKey.count == keySize, publicKey.count == keySize else { throw SealingError(.length) }
        try Wiping.leavingNoTraces(orThrow: .length) {
            crypto_scalarmult_base(publicKey.pointer, secretKey.pointer)
        }
    }

    /// Writes the secret that two pairs of keys share. Derive a key from it before use: its bits are not uniform.
    ///
    /// Throws ``SealingError/Code/forged`` if it would be zero: such a public key shares zero with every secret key,
    /// and none is created by accident. Throws ``SealingError/Code/length`` unless all three have 32 bytes.
    package static func sharedSecret(
        of secretKey: UnsafeRawBufferPointer, and publicKey: UnsafeRawBufferPointer,
        into secret: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard secretKey.count == keySize, publicKey.count == keySize, secret.count == keySize else {
            throw SealingError(.length)
        }
        try Wiping.leavingNoTraces(orThrow: .forged) {
            crypto_scalarmult(secret.pointer, secretKey.pointer, publicKey.pointer)
        }
    }
}
