import LinuxSystem
import Sealing

/// The encrypted part of an age file: a nonce, followed by the plaintext in chunks of 64 KiB. Each chunk is sealed
/// under a key derived from the file key and that nonce. A chunk's own nonce consists of its number and a flag for the
/// last chunk. So decryption fails if any chunk was moved or removed, even the last one.
enum AgePayload {
    static let nonceSize = 16
    private static let info = Array("payload".utf8)
    private static let chunkSize = 64 << 10
    private static let boxSize = chunkSize + ChaChaBox.tagSize

    private static let truncated = AgeError(.damaged, "the payload is truncated")

    /// Returns the payload, that is, the nonce and the sealed chunks. Throws `outOfMemory`.
    static func seal(_ plaintext: borrowing SecretBytes, _ fileKey: borrowing SecretBytes) throws(AgeError) -> [UInt8] {
        let nonce = RandomBytes.array(nonceSize)
        let key = try key(nonce: nonce, fileKey)
        // The last chunk may be empty only if it is the only chunk.
        let chunks = max(1, (plaintext.count + chunkSize - 1) / chunkSize)
        var payload = nonce + [UInt8](repeating: 0, count: plaintext.count + chunks * ChaChaBox.tagSize)
        do throws(SealingError) {
            try plaintext.withUnsafeBytes { (plaintext) throws(SealingError) in
                try payload.withMutableRawBytes { (payload) throws(SealingError) in
                    for number in 0..<chunks {
                        let part = number * chunkSize..<min((number + 1) * chunkSize, plaintext.count)
                        let box = nonceSize + number * boxSize
                        let boxEnd = box + part.count + ChaChaBox.tagSize
                        try withBytes(chunkNonce(number, isLast: number == chunks - 1), key) {
                            (nonce, key) throws(SealingError) in
                            try ChaChaBox.seal(
                                UnsafeRawBufferPointer(rebasing: plaintext[part]), nonce: nonce, key: key,
                                into: UnsafeMutableRawBufferPointer(rebasing: payload[box..<boxEnd]))
                        }
                    }
                }
            }
        } catch { throw AgeError(error) }
        return payload
    }

    /// Returns the plaintext. Throws `outOfMemory`, or `damaged` if the payload was changed or truncated.
    static func open(_ payload: ArraySlice<UInt8>, _ fileKey: borrowing SecretBytes) throws(AgeError) -> SecretBytes {
        guard payload.count >= nonceSize + ChaChaBox.tagSize else { throw truncated }
        let key = try key(nonce: Array(payload.prefix(nonceSize)), fileKey)
        let sealed = payload.dropFirst(nonceSize)
        let chunks = (sealed.count + boxSize - 1) / boxSize
        let size = sealed.count - chunks * ChaChaBox.tagSize
        guard size > (chunks - 1) * chunkSize || chunks == 1 else { throw truncated }
        var plaintext = try translated(SecretBytes(zeros: size))
        do throws(SealingError) {
            try plaintext.withUnsafeMutableBytes { (plaintext) throws(SealingError) in
                try sealed.withRawBytes { (sealed) throws(SealingError) in
                    for number in 0..<chunks {
                        let part = number * chunkSize..<min((number + 1) * chunkSize, size)
                        let box = number * boxSize..<number * boxSize + part.count + ChaChaBox.tagSize
                        try withBytes(chunkNonce(number, isLast: number == chunks - 1), key) {
                            (nonce, key) throws(SealingError) in
                            try ChaChaBox.open(
                                UnsafeRawBufferPointer(rebasing: sealed[box]), nonce: nonce, key: key,
                                into: UnsafeMutableRawBufferPointer(rebasing: plaintext[part]))
                        }
                    }
                }
            }
        } catch {
            throw error.code == .forged ? AgeError(.damaged, "the payload was changed or truncated") : AgeError(error)
        }
        return plaintext
    }

    private static func key(nonce: [UInt8], _ fileKey: borrowing SecretBytes) throws(AgeError) -> SecretBytes {
        do throws(SealingError) {
            var key = try SecretBytes(zeros: ChaChaBox.keySize, isKey: true)
            try FileKey.derive(from: fileKey, salt: nonce, info: info, into: &key)
            return key
        } catch { throw AgeError(error) }
    }

    /// Returns a chunk's nonce: its number as 11 bytes, big-endian, and one byte that is 1 for the last chunk.
    private static func chunkNonce(_ number: Int, isLast: Bool) -> [UInt8] {
        let digits = withUnsafeBytes(of: UInt64(truncatingIfNeeded: number).bigEndian) { Array($0) }
        return [0, 0, 0] + digits + [isLast ? 1 : 0]
    }
}
