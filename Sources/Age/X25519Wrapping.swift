import LinuxSystem
import Sealing

/// Wraps a file key for a public key, as age's recipient type X25519 does.
///
/// The wrapping key is derived from the shared secret of the recipient's key and an ephemeral key. The stanza contains
/// the ephemeral public key, the *share*.
enum X25519Wrapping {
    static let kind = "X25519"
    private static let info = Array("age-encryption.org/v1/X25519".utf8)
    /// A constant nonce is safe, since each wrapping key is used only once.
    private static let nonce = [UInt8](repeating: 0, count: ChaChaBox.nonceSize)
    private static let bodySize = FileKey.size + ChaChaBox.tagSize

    /// Wraps a file key. Throws `outOfMemory`; `malformed` for a public key of low order, which never arises by chance.
    static func wrap(_ fileKey: borrowing SecretBytes, to recipient: [UInt8]) throws(AgeError) -> Stanza {
        guard fileKey.count == FileKey.size else { throw FileKey.wrongSize }
        let ephemeral = try Identity.generate()
        guard let share = ephemeral.publicKey else { throw AgeError(.outOfMemory) }
        var text = [UInt8](repeating: 0, count: Base64.digits(of: share.count) + 1)
        var body = [UInt8](repeating: 0, count: bodySize)
        do throws(SealingError) {
            let key = try wrappingKey(ephemeral.secret, with: recipient, salt: share + recipient)
            try fileKey.withUnsafeBytes { (fileKey) throws(SealingError) in
                try withBytes(nonce, key) { (nonce, key) throws(SealingError) in
                    try body.withMutableRawBytes { (body) throws(SealingError) in
                        try ChaChaBox.seal(fileKey, nonce: nonce, key: key, into: body)
                    }
                }
            }
            try share.withRawBytes { (share) throws(SealingError) in
                try text.withMutableRawBytes { (text) throws(SealingError) in try Base64.encode(share, into: text) }
            }
        } catch { throw error.code == .forged ? .malformed("the recipient's public key is invalid") : AgeError(error) }
        return try Stanza(arguments: [kind, String(decoding: text.dropLast(), as: UTF8.self)], body: body)
    }

    /// Returns the file key; nil if the stanza has another kind or recipient. Throws `malformed` or `outOfMemory`.
    static func unwrap(_ stanza: Stanza, with identity: borrowing Identity) throws(AgeError) -> SecretBytes? {
        guard stanza.kind == kind else { return nil }
        let share = try share(of: stanza)
        guard let recipient = identity.publicKey else { throw AgeError(.outOfMemory) }
        do throws(SealingError) {
            let key = try wrappingKey(identity.secret, with: share, salt: share + recipient)
            return try open(stanza.body, with: key)
        } catch {
            throw error.code == .forged ? .malformed("the share of an X25519 stanza is invalid") : AgeError(error)
        }
    }

    private static func share(of stanza: Stanza) throws(AgeError) -> [UInt8] {
        guard stanza.arguments.count == 2 else {
            throw .malformed("an X25519 stanza does not have exactly one argument")
        }
        guard let share = Base64.bytes(Array(stanza.arguments[1].utf8), count: X25519.keySize) else {
            throw .malformed("the share of an X25519 stanza is not base64 of 32 bytes")
        }
        // The size of the stanza's body is checked before the body is decrypted. Otherwise an attacker could create a
        // longer body that can be decrypted with any of several keys, and find out which of them is in use.
        guard stanza.body.count == bodySize else {
            throw .malformed("the body of an X25519 stanza does not have \(bodySize) bytes")
        }
        return share
    }

    private static func open(_ body: [UInt8], with key: borrowing SecretBytes) throws(SealingError) -> SecretBytes? {
        var fileKey = try SecretBytes(zeros: FileKey.size, isKey: true)
        do throws(SealingError) {
            try fileKey.withUnsafeMutableBytes { (fileKey) throws(SealingError) in
                try withBytes(nonce, key) { (nonce, key) throws(SealingError) in
                    try body.withRawBytes { (body) throws(SealingError) in
                        try ChaChaBox.open(body, nonce: nonce, key: key, into: fileKey)
                    }
                }
            }
        } catch {
            guard error.code == .forged else { throw error }
            return nil
        }
        return fileKey
    }

    /// Derives the wrapping key. Throws `forged` if the public key has low order, since the shared secret is then zero.
    private static func wrappingKey(
        _ secretKey: borrowing SecretBytes, with publicKey: [UInt8], salt: [UInt8]
    ) throws(SealingError) -> SecretBytes {
        var shared = try SecretBytes(zeros: X25519.keySize, isKey: true)
        var key = try SecretBytes(zeros: ChaChaBox.keySize, isKey: true)
        try shared.withUnsafeMutableBytes { (shared) throws(SealingError) in
            try secretKey.withUnsafeBytes { (secretKey) throws(SealingError) in
                try publicKey.withRawBytes { (publicKey) throws(SealingError) in
                    try X25519.sharedSecret(of: secretKey, and: publicKey, into: shared)
                }
            }
        }
        try FileKey.derive(from: shared, salt: salt, info: info, into: &key)
        return key
    }
}
