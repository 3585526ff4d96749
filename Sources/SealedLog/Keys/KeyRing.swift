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

    /// Derives the subkeys from the data key, whose 32 bytes the closure fills in. Its second buffer, also of 32 bytes,
    /// is for intermediate results. Both are wiped before this returns.
    init(
        withDataKey: (_ dataKey: UnsafeMutableRawBufferPointer, _ scratch: UnsafeMutableRawBufferPointer)
            throws(LogError) -> Void
    ) throws(LogError) {
        var memory = try translated(SecretBytes(zeros: KeyRing.size + 2 * KeyRing.keySize, isKey: true))
        try memory.withUnsafeMutableBytes { (bytes) throws(LogError) in
            let dataKey = UnsafeMutableRawBufferPointer(rebasing: bytes[KeyRing.size..<KeyRing.size + KeyRing.keySize])
            let scratch = UnsafeMutableRawBufferPointer(rebasing: bytes[(KeyRing.size + KeyRing.keySize)...])
            try withDataKey(dataKey, scratch)
            for purpose in KeyPurpose.allCases {
                let subkey = UnsafeMutableRawBufferPointer(rebasing: bytes[KeyRing.range(of: purpose)])
                let (number, dataKey) = (UInt64(purpose.rawValue), UnsafeRawBufferPointer(dataKey))
                try translated(KeyDerivation.subkey(number, context: KeyRing.context, of: dataKey, into: subkey))
            }
        }
        memory.truncate(to: KeyRing.size)
        subkeys = memory
    }

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

    /// Seals an index or a page, which are in ordinary memory.
    func seal(_ plaintext: [UInt8], for purpose: KeyPurpose, nonce: Nonce) throws(LogError) -> [UInt8] {
        var box = [UInt8](repeating: 0, count: plaintext.count + SecretBox.tagSize)
        try plaintext.withRawBytes { (plaintext) throws(LogError) in
            try box.withMutableRawBytes { (box) throws(LogError) in
                try translated(seal(plaintext, for: purpose, nonce: nonce, into: box))
            }
        }
        return box
    }

    /// Opens an index or a page into ordinary memory; nil if it does not authenticate.
    func open(_ box: UnsafeRawBufferPointer, for purpose: KeyPurpose, nonce: Nonce) -> [UInt8]? {
        guard box.count >= SecretBox.tagSize else { return nil }
        let size = box.count - SecretBox.tagSize
        return try? [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            let plaintext = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<size])
            try open(box, for: purpose, nonce: nonce, into: plaintext)
            count = size
        }
    }

    func authenticate(_ bytes: [UInt8], for purpose: KeyPurpose) throws(LogError) -> [UInt8] {
        try bytes.withRawBytes { (bytes) throws(LogError) in
            try withKey(purpose) { (key) throws(LogError) in try translated(KeyedHash.hash(bytes, key: key)) }
        }
    }
}

// How a key opens a slot of the header, and how the header is authenticated; Format.md, "Header".

extension [KeySlot] {
    /// Finds the slot that `key` opens, and derives the subkeys from its data key. Throws `keyWrong` if no slot opens;
    /// `damaged` if the slots of the key's kind exceed the bounds of Argon2id.
    func unlock(with key: borrowing KeyFile) throws(LogError) -> KeyRing {
        // Nothing authenticates the slots yet. An attacker who can write the file could make readers work for minutes.
        guard key.kind != .other || isBearable else {
            throw LogError.damaged("the key slots ask for more work than they may")
        }
        return try KeyRing { (dataKey, scratch) throws(LogError) in
            for slot in self where try slot.unwrap(with: key, into: dataKey, scratch: scratch) { return }
            throw LogError(.keyWrong)
        }
    }

    /// Whether the slots for files that were not generated are within Argon2id's bounds, each and together.
    var isBearable: Bool {
        let limits = filter { $0.kind == KeyFile.Kind.other.rawValue }.map(\.limits)
        return limits.allSatisfy(\.isWithinBounds)
            && limits.reduce(0) { $0 + $1.cost } <= KeyDerivation.StretchLimits.largestCost
    }

    /// Returns the slots, with a higher cost for that of `key`. Throws `keyWrong`; `invalid` for limits that are out of
    /// bounds or do not raise the cost, and for a generated key, which does not use Argon2id.
    func raising(_ key: borrowing KeyFile, to limits: KeyDerivation.StretchLimits) throws(LogError) -> [KeySlot] {
        let bounds = KeyDerivation.StretchLimits.bounds
        guard key.kind == .other else { throw LogError(.invalid, "a generated key file needs no stretching") }
        var slots = self
        _ = try KeyRing { (dataKey, scratch) throws(LogError) in
            for (index, slot) in enumerated() where try slot.unwrap(with: key, into: dataKey, scratch: scratch) {
                guard limits.isWithinBounds, limits.cost > slot.limits.cost else {
                    throw LogError(.invalid, "the cost is only ever raised, to \(bounds)")
                }
                let dataKey = UnsafeRawBufferPointer(dataKey)
                slots[index] = try .wrapping(dataKey, with: key, limits: limits, scratch: scratch)
                return
            }
            throw LogError(.keyWrong)
        }
        guard slots.isBearable else {
            throw LogError(.invalid, "all slots together take more than Argon2id may, \(bounds)")
        }
        return slots
    }
}

extension Header {
    /// Checks the MAC of a header's bytes, and returns the header's authenticator. Throws `damaged`.
    static func authenticate(_ bytes: [UInt8], with keys: KeyRing) throws(LogError) -> Authenticator {
        let expected = try keys.authenticate(Array(bytes[..<macOffset]), for: .header)
        // The comparison need not take constant time: only the vault's owner learns how long it took.
        guard bytes[macOffset..<hintOffset].elementsEqual(expected) else {
            throw LogError.damaged("the header does not authenticate")
        }
        return expected.withUnsafeBytes { Authenticator($0) }
    }

    /// Returns the header with an empty hint, and its copy: 8,192 bytes.
    func sealed(with keys: KeyRing) throws(LogError) -> [UInt8] {
        let encoded = encoded
        let header = encoded + (try keys.authenticate(encoded, for: .header)) + [UInt8](repeating: 0, count: Hint.size)
        return header + header
    }
}

extension KeySlot {
    var kindName: String {
        switch kind {
        case KeyFile.Kind.generated.rawValue: "generated key file"
        case KeyFile.Kind.other.rawValue: "key file, Argon2id"
        default: "kind \(kind)"
        }
    }

    /// Returns a slot that `key` opens, with the data key in it. A generated key does not use the limits of Argon2id.
    static func wrapping(
        _ dataKey: UnsafeRawBufferPointer, with key: borrowing KeyFile, limits: KeyDerivation.StretchLimits,
        scratch: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> KeySlot {
        var nonces = NonceSource()
        let nonce = nonces.next()
        var slot = KeySlot(
            kind: key.kind.rawValue, salt: RandomBytes.array(KeyDerivation.saltSize),
            limits: key.kind == .other ? limits : .init(passes: 0, memory: 0), nonce: nonce,
            wrapped: [UInt8](repeating: 0, count: wrappedSize))
        try translated(slot.deriveWrappingKey(from: key, into: scratch))
        try slot.wrapped.withMutableRawBytes { (wrapped) throws(LogError) in
            let box = UnsafeMutableRawBufferPointer(rebasing: wrapped[..<wrappedKeySize])
            try translated(SecretBox.seal(dataKey, nonce: nonce, key: UnsafeRawBufferPointer(scratch), into: box))
        }
        return slot
    }

    /// Unwraps the data key; false if `key` does not open this slot. Throws `damaged` for limits out of bounds.
    func unwrap(
        with key: borrowing KeyFile, into dataKey: UnsafeMutableRawBufferPointer, scratch: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> Bool {
        guard kind == key.kind.rawValue else { return false }
        do throws(SealingError) {
            try deriveWrappingKey(from: key, into: scratch)
            try wrapped.withRawBytes { (wrapped) throws(SealingError) in
                let box = UnsafeRawBufferPointer(rebasing: wrapped[..<KeySlot.wrappedKeySize])
                try SecretBox.open(box, nonce: nonce, key: UnsafeRawBufferPointer(scratch), into: dataKey)
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
                guard kind == .other else { return try KeyedHash.hash(label, key: secret, into: wrappingKey) }
                var stretched = try SecretBytes(zeros: SecretBox.keySize, isKey: true)
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

extension KeyedHash {
    static func hash(
        _ bytes: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer = .init(start: nil, count: 0)
    ) throws(SealingError) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: size)
        try hash.withMutableRawBytes { (hash) throws(SealingError) in try KeyedHash.hash(bytes, key: key, into: hash) }
        return hash
    }
}
