private import CSodium

/// Signatures on Curve25519 (RFC 8032): libsodium's `crypto_sign`.
package enum Ed25519 {
    /// The sizes in bytes.
    @inlinable package static var seedSize: Int { 32 }
    @inlinable package static var publicKeySize: Int { 32 }
    @inlinable package static var secretKeySize: Int { 64 }
    @inlinable package static var signatureSize: Int { 64 }

    /// Writes the keys of a seed. Throws ``SealingError/Code/length`` unless all three have their sizes.
    package static func makeKeys(
        from seed: UnsafeRawBufferPointer, secretKey: UnsafeMutableRawBufferPointer,
        publicKey: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard seed.count == seedSize, secretKey.count == secretKeySize, publicKey.count == publicKeySize else {
            throw SealingError(.length)
        }
        try Wiping.leavingNoTraces(orThrow: .length) {
            crypto_sign_seed_keypair(publicKey.pointer, secretKey.pointer, seed.pointer)
        }
    }

    /// Returns the 64-byte signature of a message. Throws ``SealingError/Code/length`` unless the key has 64 bytes.
    package static func signature(
        of message: [UInt8], secretKey: UnsafeRawBufferPointer
    ) throws(SealingError) -> [UInt8] {
        guard secretKey.count == secretKeySize else { throw SealingError(.length) }
        var signature = [UInt8](repeating: 0, count: signatureSize)
        try Wiping.leavingNoTraces(orThrow: .length) {
            crypto_sign_detached(&signature, nil, message, UInt64(message.count), secretKey.pointer)
        }
        return signature
    }

    /// Returns whether a signature of a message was made with the secret key of this public key.
    package static func isValid(_ signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
        guard signature.count == signatureSize, publicKey.count == publicKeySize else { return false }
        return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
    }
}
