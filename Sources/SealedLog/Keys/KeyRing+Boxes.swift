import LinuxSystem
package import Sealing

extension KeyRing {
    /// Seals bytes of ordinary memory: an index or a page.
    func seal(_ plaintext: [UInt8], for purpose: KeyPurpose, nonce: Nonce) throws(LogError) -> [UInt8] {
        var box = [UInt8](repeating: 0, count: plaintext.count + SecretBox.tagSize)
        do throws(SealingError) {
            try plaintext.withRawBytes { (plaintext) throws(SealingError) in
                try box.withMutableRawBytes { (box) throws(SealingError) in
                    try seal(plaintext, for: purpose, nonce: nonce, into: box)
                }
            }
        } catch { throw LogError(error) }
        return box
    }

    /// Opens a box into ordinary memory: an index or a page. nil if it does not authenticate.
    func open(_ box: UnsafeRawBufferPointer, for purpose: KeyPurpose, nonce: Nonce) -> [UInt8]? {
        guard box.count >= SecretBox.tagSize else { return nil }
        let size = box.count - SecretBox.tagSize
        return try? [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            let plaintext = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: size)
            try open(box, for: purpose, nonce: nonce, into: plaintext)
            count = size
        }
    }

    package func seal(
        _ plaintext: UnsafeRawBufferPointer, for purpose: KeyPurpose, nonce: Nonce,
        into box: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        try withKey(purpose) { (key) throws(SealingError) in
            try SecretBox.seal(plaintext, nonce: nonce, key: key, into: box)
        }
    }

    package func open(
        _ box: UnsafeRawBufferPointer, for purpose: KeyPurpose, nonce: Nonce,
        into plaintext: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        try withKey(purpose) { (key) throws(SealingError) in
            try SecretBox.open(box, nonce: nonce, key: key, into: plaintext)
        }
    }

    /// The keyed BLAKE2b-256 of the bytes.
    func authenticate(_ bytes: UnsafeRawBufferPointer, for purpose: KeyPurpose) throws(LogError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: KeyedHash.size)
        do throws(SealingError) {
            try withKey(purpose) { (key) throws(SealingError) in
                try code.withMutableRawBytes { (code) throws(SealingError) in
                    try KeyedHash.hash(bytes, key: key, into: code)
                }
            }
        } catch { throw LogError(error) }
        return code
    }
}
