private import CSodium

/// Authenticated encryption for formats other than the vault's, with ChaCha20-Poly1305 (RFC 8439) and no associated
/// data. A box consists of the ciphertext, which is as long as the plaintext, followed by a 16-byte tag.
///
/// The nonce is too short to be chosen at random. Therefore use each key only once, or use a counter as the nonce.
package enum ChaChaBox {
    @inlinable package static var keySize: Int { 32 }
    @inlinable package static var nonceSize: Int { 12 }
    @inlinable package static var tagSize: Int { 16 }

    /// Seals `plaintext` into `box`. The buffers must not overlap. Throws ``SealingError/Code/length`` unless the key
    /// has 32 bytes, the nonce has 12, and the box is 16 bytes longer than the plaintext.
    package static func seal(
        _ plaintext: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
        into box: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard key.count == keySize, nonce.count == nonceSize, box.count == plaintext.count + tagSize else {
            throw SealingError(.length)
        }
        try Wiping.leavingNoTraces(orThrow: .length) {
            crypto_aead_chacha20poly1305_ietf_encrypt(
                box.pointer, nil, plaintext.pointer, UInt64(plaintext.count), nil, 0, nil, nonce.pointer, key.pointer)
        }
    }

    /// Opens `box` into `plaintext`, with the same requirements as ``seal(_:nonce:key:into:)``. Throws
    /// ``SealingError/Code/forged`` if the box was changed or was not sealed with this key and nonce.
    package static func open(
        _ box: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
        into plaintext: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard key.count == keySize, nonce.count == nonceSize, box.count == plaintext.count + tagSize else {
            throw SealingError(.length)
        }
        try Wiping.leavingNoTraces(orThrow: .forged) {
            crypto_aead_chacha20poly1305_ietf_decrypt(
                plaintext.pointer, nil, nil, box.pointer, UInt64(box.count), nil, 0, nonce.pointer, key.pointer)
        }
    }
}
