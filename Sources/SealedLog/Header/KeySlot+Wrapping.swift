import LinuxSystem
import Sealing

extension KeySlot {
    /// A slot that `key` opens, for the data key.
    ///
    /// - Parameter limits: of no account for a generated key file, which needs no stretching.
    static func wrapping(
        _ dataKey: UnsafeRawBufferPointer, with key: borrowing KeyFile, limits: KeyDerivation.StretchLimits,
        scratch: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> KeySlot {
        var nonces = NonceSource(expected: 1)
        var slot = KeySlot(
            kind: key.kind.rawValue, salt: RandomBytes.array(KeyDerivation.saltSize),
            limits: key.kind == .other ? limits : .init(passes: 0, memory: 0), nonce: nonces.next(),
            wrapped: [UInt8](repeating: 0, count: wrappedSize))
        let (salt, limits, nonce) = (slot.salt, slot.limits, slot.nonce)
        do throws(SealingError) {
            try wrappingKey(of: key, salt: salt, limits: limits, into: scratch)
            try slot.wrapped.withMutableRawBytes { (wrapped) throws(SealingError) in
                try SecretBox.seal(
                    dataKey, nonce: nonce, key: UnsafeRawBufferPointer(scratch),
                    into: UnsafeMutableRawBufferPointer(rebasing: wrapped[..<wrappedKeySize]))
            }
        } catch { throw LogError(error) }
        return slot
    }

    /// Unwraps the data key; false if `key` is not the one of this slot.
    ///
    /// - Throws: `damaged` for limits out of bounds.
    func unwrap(
        with key: borrowing KeyFile, into dataKey: UnsafeMutableRawBufferPointer, scratch: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> Bool {
        guard kind == key.kind.rawValue else { return false }
        do throws(SealingError) {
            try KeySlot.wrappingKey(of: key, salt: salt, limits: limits, into: scratch)
            try wrapped.withRawBytes { (wrapped) throws(SealingError) in
                try SecretBox.open(
                    UnsafeRawBufferPointer(rebasing: wrapped[..<KeySlot.wrappedKeySize]), nonce: nonce,
                    key: UnsafeRawBufferPointer(scratch), into: dataKey)
            }
            return true
        } catch {
            guard error.code == .forged else { throw LogError(error) }
            return false
        }
    }

    private static func wrappingKey(
        of key: borrowing KeyFile, salt: [UInt8], limits: KeyDerivation.StretchLimits,
        into wrappingKey: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        let label = Array("vault slot ".utf8) + [UInt8(ascii: "0") + key.kind.rawValue] + salt
        let kind = key.kind
        try key.secret.withUnsafeBytes { (secret) throws(SealingError) in
            try label.withRawBytes { (label) throws(SealingError) in
                guard kind == .other else {
                    return try KeyedHash.hash(label, key: secret, into: wrappingKey)
                }
                var stretched = try SecretBytes(zeroCount: SecretBox.keySize)
                try stretched.withUnsafeMutableBytes { (stretched) throws(SealingError) in
                    try salt.withRawBytes { (salt) throws(SealingError) in
                        try KeyDerivation.stretch(secret, salt: salt, limits: limits, into: stretched)
                    }
                    try KeyedHash.hash(label, key: UnsafeRawBufferPointer(stretched), into: wrappingKey)
                }
            }
        }
    }
}
