import LinuxSystem
package import Sealing

/// An age identity, which unwraps file keys. It is a secret key, or a string that a plugin interprets.
package struct Identity: ~Copyable, Sendable {
    enum Kind: Sendable {
        /// A secret key, written `AGE-SECRET-KEY-1…`.
        case x25519
        /// A string for the program `age-plugin-NAME`, written `AGE-PLUGIN-NAME-1…`.
        case plugin(name: String)
    }

    private static let prefix = "age-secret-key-"
    private static let pluginPrefix = "age-plugin-"

    let kind: Kind
    /// The 32 bytes of a secret key, or the complete string of a plugin's identity.
    let secret: SecretBytes

    /// Parses an identity in the form that `age-keygen` or a plugin prints. `text` must not contain white space. Throws
    /// `malformed` or `outOfMemory`.
    package init(_ text: UnsafeRawBufferPointer) throws(AgeError) {
        if let kind = Identity.foreignKind(of: text) { throw .malformed(kind) }
        let decoded = try Bech32.decode(text)
        guard decoded.letterCase == .upper else { throw .malformed("it is not in upper case") }
        if decoded.prefix == Identity.prefix {
            self = try Identity(secretKey: decoded.data)
        } else if decoded.prefix.hasPrefix(Identity.pluginPrefix), decoded.prefix.hasSuffix("-") {
            let name = String(decoded.prefix.dropFirst(Identity.pluginPrefix.count).dropLast())
            guard PluginName.isValid(name) else { throw .malformed("its plugin has an invalid name") }
            self = Identity(kind: .plugin(name: name), secret: try translated(SecretBytes(copyOf: text, isKey: true)))
        } else {
            throw .malformed("it is not of a supported kind")
        }
    }

    /// Creates an identity from the 32 bytes of a secret key. Throws `malformed` if `secretKey` has another size.
    package init(secretKey: consuming SecretBytes) throws(AgeError) {
        guard secretKey.count == X25519.keySize else {
            throw .malformed("it is not a secret key of \(X25519.keySize) bytes")
        }
        self = Identity(kind: .x25519, secret: secretKey)
    }

    private init(kind: Kind, secret: consuming SecretBytes) {
        self.kind = kind
        self.secret = secret
    }

    /// Returns the reason why a string cannot be a supported identity; nil if it may be one.
    private static func foreignKind(of text: UnsafeRawBufferPointer) -> String? {
        if text.starts(with: "age-encryption.org/".utf8) || text.starts(with: "-----BEGIN AGE ".utf8) {
            return "it is encrypted with a passphrase, which is not supported; decrypt it with age first"
        }
        if text.starts(with: "-----BEGIN ".utf8) || text.starts(with: "ssh-".utf8) {
            return "SSH keys are not supported; create a key with age-keygen"
        }
        if text.starts(with: "AGE-SECRET-KEY-PQ-".utf8) { return "post-quantum identities are not supported" }
        if text.starts(with: "age1".utf8) { return "this is a recipient, not an identity" }
        return nil
    }

    package static func generate() throws(AgeError) -> Identity {
        var key = try translated(SecretBytes(zeros: X25519.keySize, isKey: true))
        key.withUnsafeMutableBytes { RandomBytes.fill($0) }
        return Identity(kind: .x25519, secret: key)
    }

    /// The name of the identity's plugin; nil for a secret key.
    package var pluginName: String? { if case .plugin(let name) = kind { name } else { nil } }

    /// The recipient for a secret key; nil for a plugin's identity, whose recipient only the plugin can compute.
    package var recipient: Recipient? {
        guard case .x25519 = kind else { return nil }
        return publicKey.map(Recipient.x25519)
    }

    /// The public key that belongs to the secret key. Do not use it for a plugin's identity, which has no such key.
    var publicKey: [UInt8]? {
        var key = [UInt8](repeating: 0, count: X25519.keySize)
        let isWritten: ()? = secret.withUnsafeBytes { secret in
            try? key.withMutableRawBytes { (key) throws(SealingError) in try X25519.publicKey(of: secret, into: key) }
        }
        return isWritten.map { key }
    }

    /// Returns the identity in the form that `age` reads, without a line feed at the end. Throws `outOfMemory`.
    package borrowing func text() throws(AgeError) -> SecretBytes {
        try secret.withUnsafeBytes { (secret) throws(AgeError) in
            guard case .x25519 = kind else { return try translated(SecretBytes(copyOf: secret)) }
            let size = Bech32.textSize(prefix: Identity.prefix, dataSize: secret.count)
            var text = try translated(SecretBytes(zeros: size, isKey: true))
            try text.withUnsafeMutableBytes { (text) throws(AgeError) in
                try Bech32.encode(secret, prefix: Identity.prefix, .upper, into: text)
            }
            return text
        }
    }
}
