import LinuxSystem
import Sealing

// How a key file opens a slot of the header, and how the header is authenticated; Format.md, "Header".

extension Header {
    /// Finds the slot that `key` opens, and derives the subkeys from its data key.
    ///
    /// - Throws: `keyWrong` if no slot opens; `damaged` if the slots of the key's kind exceed the bounds of Argon2id.
    func unlock(with key: borrowing KeyFile) throws(LogError) -> KeyRing {
        // Nothing authenticates the slots yet. An attacker who can write the file could make readers work for minutes.
        guard key.kind != .other || Header.isBearable(slots) else {
            throw LogError.damaged("the key slots ask for more work than they may")
        }
        return try KeyRing { (dataKey, scratch) throws(LogError) in
            for slot in slots where try slot.unwrap(with: key, into: dataKey, scratch: scratch) { return }
            throw LogError(.keyWrong)
        }
    }

    /// Returns whether the slots for files that were not generated are within the bounds of Argon2id, each and
    /// together.
    static func isBearable(_ slots: [KeySlot]) -> Bool {
        let limits = slots.filter { $0.kind == KeyFile.Kind.other.rawValue }.map(\.limits)
        return limits.allSatisfy(\.isWithinBounds)
            && limits.reduce(0) { $0 + $1.cost } <= KeyDerivation.StretchLimits.largestCost
    }

    /// Returns the slots, with a higher cost for that of `key`.
    ///
    /// - Throws: `invalid` for limits that are out of bounds or do not raise the cost, and for a generated key, which
    ///   does not use Argon2id; `keyWrong`.
    func slots(raising key: borrowing KeyFile, to limits: KeyDerivation.StretchLimits) throws(LogError) -> [KeySlot] {
        let bounds = KeyDerivation.StretchLimits.bounds
        guard key.kind == .other else { throw LogError(.invalid, "a generated key file needs no stretching") }
        var slots = slots
        _ = try KeyRing { (dataKey, scratch) throws(LogError) in
            for (index, slot) in slots.enumerated() where try slot.unwrap(with: key, into: dataKey, scratch: scratch) {
                guard limits.isWithinBounds, limits.cost > slot.limits.cost else {
                    throw LogError(.invalid, "the cost is only ever raised, to \(bounds)")
                }
                slots[index] = try .wrapping(
                    UnsafeRawBufferPointer(dataKey), with: key, limits: limits, scratch: scratch)
                return
            }
            throw LogError(.keyWrong)
        }
        guard Header.isBearable(slots) else {
            throw LogError(.invalid, "all slots together take more than Argon2id may, \(bounds)")
        }
        return slots
    }

    private static func mac(of encoded: [UInt8], with keys: KeyRing) throws(LogError) -> [UInt8] {
        try encoded.withRawBytes { (bytes) throws(LogError) in
            try keys.authenticate(UnsafeRawBufferPointer(rebasing: bytes[..<macOffset]), for: .header)
        }
    }

    /// Checks the MAC of a header's bytes, and returns the header's authenticator.
    ///
    /// - Throws: `damaged`.
    static func authenticate(_ bytes: [UInt8], with keys: KeyRing) throws(LogError) -> Authenticator {
        let expected = try mac(of: bytes, with: keys)
        // The comparison need not take constant time: only the vault's owner learns how long it took.
        guard bytes[macOffset..<hintOffset].elementsEqual(expected) else {
            throw LogError.damaged("the header does not authenticate")
        }
        return expected.withUnsafeBytes { Authenticator($0) }
    }

    /// Returns the header with an empty hint, and its copy: 8,192 bytes.
    func sealed(with keys: KeyRing) throws(LogError) -> [UInt8] {
        let encoded = encoded
        let header = encoded + (try Header.mac(of: encoded, with: keys)) + [UInt8](repeating: 0, count: Hint.size)
        return header + header
    }
}

extension KeySlot {
    /// The name of the slot's kind, for messages.
    var kindName: String {
        switch kind {
        case KeyFile.Kind.generated.rawValue: "generated key file"
        case KeyFile.Kind.other.rawValue: "key file, Argon2id"
        default: "kind \(kind)"
        }
    }

    /// Returns a slot that `key` opens, with the data key in it.
    ///
    /// - Parameter limits: ignored for a generated key file, which does not use Argon2id.
    static func wrapping(
        _ dataKey: UnsafeRawBufferPointer, with key: borrowing KeyFile, limits: KeyDerivation.StretchLimits,
        scratch: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> KeySlot {
        var nonces = NonceSource(expected: 1)
        let nonce = nonces.next()
        var slot = KeySlot(
            kind: key.kind.rawValue, salt: RandomBytes.array(KeyDerivation.saltSize),
            limits: key.kind == .other ? limits : .init(passes: 0, memory: 0), nonce: nonce,
            wrapped: [UInt8](repeating: 0, count: wrappedSize))
        do throws(SealingError) {
            try slot.deriveWrappingKey(from: key, into: scratch)
            try slot.wrapped.withMutableRawBytes { (wrapped) throws(SealingError) in
                try SecretBox.seal(
                    dataKey, nonce: nonce, key: UnsafeRawBufferPointer(scratch),
                    into: UnsafeMutableRawBufferPointer(rebasing: wrapped[..<wrappedKeySize]))
            }
        } catch { throw LogError(error) }
        return slot
    }

    /// Unwraps the data key. Returns false if `key` does not open this slot.
    ///
    /// - Throws: `damaged` for limits out of bounds.
    func unwrap(
        with key: borrowing KeyFile, into dataKey: UnsafeMutableRawBufferPointer, scratch: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> Bool {
        guard kind == key.kind.rawValue else { return false }
        do throws(SealingError) {
            try deriveWrappingKey(from: key, into: scratch)
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

    private func deriveWrappingKey(
        from key: borrowing KeyFile, into wrappingKey: UnsafeMutableRawBufferPointer
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
