import LinuxSystem
package import Sealing

/// What a subkey is used for. No key has two uses. The raw values are the identifiers of Format.md.
package enum KeyPurpose: Int, CaseIterable, Sendable {
    case record = 1
    case page, value, header, memory
}

/// The subkeys of one vault. They share one piece of guarded memory, since each costs two pages and 15 µs.
package final class KeyRing: Sendable {
    private static let context: StaticString = "vault-01"
    private static var keySize: Int { SecretBox.keySize }
    private static let size = KeyPurpose.allCases.count * keySize

    private let subkeys: SecretBytes

    /// Derives the subkeys.
    ///
    /// - Parameter withDataKey: fills in the 32 bytes of the data key. The second buffer, also of 32 bytes, is for
    ///   intermediate results. Both are wiped before this returns.
    init(
        withDataKey: (_ dataKey: UnsafeMutableRawBufferPointer, _ scratch: UnsafeMutableRawBufferPointer)
            throws(LogError) -> Void
    ) throws(LogError) {
        var memory: SecretBytes
        do throws(SealingError) { memory = try SecretBytes(zeroCount: KeyRing.size + 2 * KeyRing.keySize) } catch {
            throw LogError(error)
        }
        try memory.withUnsafeMutableBytes { (bytes) throws(LogError) in
            let dataKey = UnsafeMutableRawBufferPointer(rebasing: bytes[KeyRing.size..<KeyRing.size + KeyRing.keySize])
            let scratch = UnsafeMutableRawBufferPointer(rebasing: bytes[(KeyRing.size + KeyRing.keySize)...])
            try withDataKey(dataKey, scratch)
            do throws(SealingError) {
                for purpose in KeyPurpose.allCases {
                    try KeyDerivation.subkey(
                        UInt64(purpose.rawValue), context: KeyRing.context, of: UnsafeRawBufferPointer(dataKey),
                        into: UnsafeMutableRawBufferPointer(rebasing: bytes[KeyRing.range(of: purpose)]))
                }
            } catch { throw LogError(error) }
        }
        memory.truncate(to: KeyRing.size)
        subkeys = memory
    }

    /// Whether the keys are locked against swapping.
    package var isLockedInMemory: Bool { subkeys.isLockedInMemory }

    private static func range(of purpose: KeyPurpose) -> Range<Int> {
        (purpose.rawValue - 1) * keySize..<purpose.rawValue * keySize
    }

    func withKey<Result, Failure: Error>(
        _ purpose: KeyPurpose, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try subkeys.withUnsafeBytes { (bytes) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[KeyRing.range(of: purpose)]))
        }
    }

    // MARK: Boxes

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

    /// Opens a box into ordinary memory: an index or a page. Returns nil if it does not authenticate.
    func open(_ box: UnsafeRawBufferPointer, for purpose: KeyPurpose, nonce: Nonce) -> [UInt8]? {
        guard box.count >= SecretBox.tagSize else { return nil }
        let size = box.count - SecretBox.tagSize
        return try? [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            let plaintext = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: size)
            try open(box, for: purpose, nonce: nonce, into: plaintext)
            count = size
        }
    }

    /// Returns the keyed BLAKE2b-256 of the bytes.
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
