private import CSodium

/// Authenticated encryption: libsodium's secretbox, XSalsa20-Poly1305.
///
/// A box is the 16-byte tag followed by as many bytes as the plaintext has.
package enum SecretBox {
    @inlinable package static var keySize: Int { 32 }
    @inlinable package static var tagSize: Int { 16 }

    /// Seals `plaintext` into `box`, which may not overlap it.
    ///
    /// - Throws: ``SealingError/Code/length`` unless the key has 32 bytes and the box 16 more than the plaintext.
    package static func seal(
        _ plaintext: UnsafeRawBufferPointer, nonce: Nonce, key: UnsafeRawBufferPointer,
        into box: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard key.count == keySize, box.count == plaintext.count + tagSize else { throw SealingError(.length) }
        let status = nonce.withUnsafeBytes { nonce in
            crypto_secretbox_easy(
                box.pointer, plaintext.pointer, UInt64(plaintext.count), nonce.pointer, key.pointer)
        }
        guard status == 0 else { throw SealingError(.length) }
    }

    /// Opens `box` into `plaintext`, which may not overlap it.
    ///
    /// - Throws: ``SealingError/Code/forged`` if the box was not sealed with this key and nonce or has been changed;
    ///   ``SealingError/Code/length`` unless the key has 32 bytes and the box 16 more than the plaintext.
    package static func open(
        _ box: UnsafeRawBufferPointer, nonce: Nonce, key: UnsafeRawBufferPointer,
        into plaintext: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard key.count == keySize, box.count == plaintext.count + tagSize else { throw SealingError(.length) }
        let status = nonce.withUnsafeBytes { nonce in
            Wiping.leavingNoTraces {
                crypto_secretbox_open_easy(
                    plaintext.pointer, box.pointer, UInt64(box.count), nonce.pointer, key.pointer)
            }
        }
        guard status == 0 else { throw SealingError(.forged) }
    }
}
