import LinuxSystem
package import Sealing

/// A secret that may open a key slot: the contents of a key file, a passphrase, or the secret of a single slot.
package struct Credential: ~Copyable {
    /// The kind of slot that the credential opens; nil for a wrapping key, which may belong to a slot of any kind.
    let slotKind: KeySlot.Kind?
    /// The salt of the only slot that the credential may open; nil if it may open slots with any salt.
    let slotSalt: [UInt8]?
    private let secret: SecretBytes
    /// The digest of the key file that a passphrase is combined with; nil for other kinds of credentials.
    private let addition: SecretBytes?

    private init(
        _ kind: KeySlot.Kind?, _ secret: consuming SecretBytes, _ addition: consuming SecretBytes? = nil,
        salt: [UInt8]? = nil
    ) {
        slotKind = kind
        slotSalt = salt
        self.secret = secret
        self.addition = addition
    }

    package static func keyFile(_ key: consuming KeyFile) -> Credential {
        let kind: KeySlot.Kind = key.kind == .generated ? .generatedKey : .otherKey
        return Credential(kind, key.secret)
    }

    package static func passphrase(_ text: consuming SecretBytes) -> Credential { Credential(.passphrase, text) }

    /// Creates a credential from a passphrase and a key file. Throws `outOfMemory`.
    package static func passphrase(
        _ text: consuming SecretBytes, with key: borrowing KeyFile
    ) throws(LogError) -> Credential { Credential(.keyFileAndPassphrase, text, try translated(key.digest())) }

    /// Creates a credential from the 16-byte file key that an age identity has unwrapped from a slot's parameters.
    package static func recipient(_ fileKey: consuming SecretBytes, ofSlotWith salt: [UInt8]) -> Credential {
        Credential(.recipient, fileKey, salt: salt)
    }

    /// Creates a credential from the wrapping key of a slot that opened the vault earlier.
    package static func wrappingKey(_ key: consuming SecretBytes, ofSlotWith salt: [UInt8]) -> Credential {
        Credential(nil, key, salt: salt)
    }
}

extension KeyFile {
    /// Returns the 32 bytes of a generated key, or the hash of any other key file's contents.
    fileprivate func digest() throws(SealingError) -> SecretBytes {
        var digest = try SecretBytes(zeros: KeyedHash.size, isKey: true)
        try digest.withUnsafeMutableBytes { (digest) throws(SealingError) in
            try secret.withUnsafeBytes { (secret) throws(SealingError) in
                if kind == .generated { return digest.copyMemory(from: secret) }
                try KeyedHash.hash(secret, into: digest)
            }
        }
        return digest
    }
}

extension Credential {
    package borrowing func mayOpen(_ slot: KeySlot) -> Bool {
        (slotKind.map { $0.rawValue == slot.kind } ?? true) && (slotSalt.map { $0 == slot.salt } ?? true)
    }

    /// Returns whether trying the slot requires running Argon2id.
    borrowing func isStretched(by slot: KeySlot) -> Bool { slotKind != nil && slot.stretches }

    /// Derives the wrapping key of a slot that the credential might open; see Format.md, "Key slot".
    borrowing func derive(_ wrappingKey: UnsafeMutableRawBufferPointer, of slot: KeySlot) throws(SealingError) {
        guard slotKind != nil else {
            guard secret.count == wrappingKey.count else { throw SealingError(.length) }
            return secret.withUnsafeBytes { wrappingKey.copyMemory(from: $0) }
        }
        let label = Array("vault slot ".utf8) + [UInt8(ascii: "0") + slot.kind] + slot.salt
        if slot.stretches {
            let stretched = try slot.stretched(secret)
            try hash(label, under: stretched, into: wrappingKey)
        } else {
            try hash(label, under: secret, into: wrappingKey)
        }
    }

    private borrowing func hash(
        _ label: [UInt8], under key: borrowing SecretBytes, into wrappingKey: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        try key.withUnsafeBytes { (key) throws(SealingError) in
            guard let whole = try addition?.following(label) else {
                return try label.withRawBytes { (label) throws(SealingError) in
                    try KeyedHash.hash(label, key: key, into: wrappingKey)
                }
            }
            try whole.withUnsafeBytes { (whole) throws(SealingError) in
                try KeyedHash.hash(whole, key: key, into: wrappingKey)
            }
        }
    }
}

extension KeySlot {
    fileprivate func stretched(_ secret: borrowing SecretBytes) throws(SealingError) -> SecretBytes {
        var stretched = try SecretBytes(zeros: SecretBox.keySize, isKey: true)
        try stretched.withUnsafeMutableBytes { (stretched) throws(SealingError) in
            try secret.withUnsafeBytes { (secret) throws(SealingError) in
                try salt.withRawBytes { (salt) throws(SealingError) in
                    try KeyDerivation.stretch(secret, salt: salt, limits: limits, into: stretched)
                }
            }
        }
        return stretched
    }
}
