import LinuxSystem
package import Sealing

/// The purpose of a subkey. Each subkey has only one purpose. The raw values are the IDs in Format.md.
package enum KeyPurpose: Int, CaseIterable, Sendable {
    case record = 1
    case page, value, header, memory, commitment, dropBox, resealing, fingerprint, name
}

/// The subkeys of a vault, and the wrapping key of the slot that opened it. They share one region of guarded memory,
/// because each region costs two pages and 15 µs.
package final class KeyRing: Sendable {
    private static let context: StaticString = "vault-01"
    private static var keySize: Int { SecretBox.keySize }
    private static let subkeysSize = KeyPurpose.allCases.count * keySize

    /// The vault's subkeys, followed by the wrapping key of ``slot``.
    private let keys: SecretBytes
    /// The slot that opened the vault, as it was at that time; nil if the vault was opened without a slot.
    package let slot: KeySlot?

    /// Derives the subkeys from the data key, and then wipes it. The closure writes the data key to its first buffer
    /// and a slot's wrapping key to its second (32 bytes each), and returns that slot.
    package init(
        withDataKey: (_ dataKey: UnsafeMutableRawBufferPointer, _ wrappingKey: UnsafeMutableRawBufferPointer)
            throws(LogError) -> KeySlot?
    ) throws(LogError) {
        let kept = KeyRing.subkeysSize + KeyRing.keySize
        var memory = try translated(SecretBytes(zeros: kept + KeyRing.keySize, isKey: true))
        slot = try memory.withUnsafeMutableBytes { (bytes) throws(LogError) in
            let wrappingKey = UnsafeMutableRawBufferPointer(rebasing: bytes[KeyRing.subkeysSize..<kept])
            let dataKey = UnsafeMutableRawBufferPointer(rebasing: bytes[kept...])
            let slot = try withDataKey(dataKey, wrappingKey)
            for purpose in KeyPurpose.allCases {
                let subkey = UnsafeMutableRawBufferPointer(rebasing: bytes[KeyRing.range(of: purpose)])
                let number = UInt64(purpose.rawValue)
                let dataKey = UnsafeRawBufferPointer(dataKey)
                try translated(KeyDerivation.subkey(number, context: KeyRing.context, of: dataKey, into: subkey))
            }
            return slot
        }
        memory.truncate(to: kept)
        keys = memory
    }

    package var isLockedInMemory: Bool { keys.isLockedInMemory }

    private static func range(of purpose: KeyPurpose) -> Range<Int> {
        (purpose.rawValue - 1) * keySize..<purpose.rawValue * keySize
    }

    package func withKey<Result: ~Copyable, Failure: Error>(
        _ purpose: KeyPurpose, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try keys.withUnsafeBytes { (bytes) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[KeyRing.range(of: purpose)]))
        }
    }

    /// Returns the nonce for resealing a value under this data key. The nonce is the same in every copy of the vault,
    /// so that copies that reseal a value independently recognize each other's boxes.
    ///
    /// The nonce depends on the value, as in SIV (RFC 5297). Otherwise, if a person with the former key sealed two
    /// values under one nonce, these would share a nonce again after the resealing.
    ///
    /// - Parameter hash: the hash of the value.
    package func nonce(resealing former: Nonce, ofValue hash: [UInt8]) throws(SealingError) -> Nonce {
        let input = former.withUnsafeBytes { Array($0) } + hash
        var nonce = [UInt8](repeating: 0, count: Nonce.size)
        try withKey(.resealing) { (key) throws(SealingError) in
            try input.withRawBytes { (input) throws(SealingError) in
                try nonce.withMutableRawBytes { (nonce) throws(SealingError) in
                    try KeyedHash.hash(input, key: key, into: nonce)
                }
            }
        }
        return nonce.withUnsafeBytes { Nonce($0) }
    }

    /// The memory subkey, copied to unguarded memory. It protects only the rollback memory, not the vault's data.
    package var memoryKey: [UInt8] { withKey(.memory) { Array($0) } }

    package func withWrappingKey<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try keys.withUnsafeBytes { (bytes) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[KeyRing.subkeysSize...]))
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

    /// Seals an index or a page. Neither needs guarded memory.
    package func seal(_ plaintext: [UInt8], for purpose: KeyPurpose, nonce: Nonce) throws(LogError) -> [UInt8] {
        var box = [UInt8](repeating: 0, count: plaintext.count + SecretBox.tagSize)
        try plaintext.withRawBytes { (plaintext) throws(LogError) in
            try box.withMutableRawBytes { (box) throws(LogError) in
                try translated(seal(plaintext, for: purpose, nonce: nonce, into: box))
            }
        }
        return box
    }

    /// Opens an index or a page into unguarded memory. Returns nil if `box` does not authenticate.
    package func open(_ box: UnsafeRawBufferPointer, for purpose: KeyPurpose, nonce: Nonce) -> [UInt8]? {
        guard box.count >= SecretBox.tagSize else { return nil }
        let size = box.count - SecretBox.tagSize
        return try? [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            let plaintext = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<size])
            try open(box, for: purpose, nonce: nonce, into: plaintext)
            count = size
        }
    }

    package func authenticate(_ bytes: [UInt8], for purpose: KeyPurpose) throws(LogError) -> [UInt8] {
        try bytes.withRawBytes { (bytes) throws(LogError) in
            try withKey(purpose) { (key) throws(LogError) in try translated(KeyedHash.hash(bytes, key: key)) }
        }
    }
}
