import LinuxSystem
import Sealing

/// An age recipient, for which file keys are wrapped. It is a public key, or a string that a plugin interprets.
package enum Recipient: Hashable, Sendable {
    /// A public key of 32 bytes, written `age1…`.
    case x25519([UInt8])
    /// The complete string, written `age1NAME1…`, for the program `age-plugin-NAME`.
    case plugin(name: String, text: String)

    private static let prefix = "age"
    private static let pluginPrefix = "age1"

    /// Parses a recipient as printed by `age-keygen` or a plugin. Throws `malformed` or `outOfMemory`. The error detail
    /// never quotes the text, which may be an identity that was passed by mistake.
    package init(_ text: String) throws(AgeError) {
        let bytes = Array(text.utf8)
        if let kind = Recipient.foreignKind(of: text) { throw .malformed(kind) }
        let decoded = try Recipient.described { () throws(AgeError) in
            try bytes.withRawBytes { (bytes) throws(AgeError) in try Bech32.decode(bytes) }
        }
        guard decoded.letterCase == .lower else { throw .malformed("the recipient is not in lower case") }
        if decoded.prefix == Recipient.prefix {
            guard decoded.data.count == X25519.keySize else {
                throw .malformed("the recipient is not a public key of \(X25519.keySize) bytes")
            }
            self = .x25519(decoded.data.unsafeArray())
        } else if decoded.prefix.hasPrefix(Recipient.pluginPrefix) {
            let name = String(decoded.prefix.dropFirst(Recipient.pluginPrefix.count))
            guard PluginName.isValid(name) else { throw .malformed("the recipient's plugin has an invalid name") }
            self = .plugin(name: name, text: text)
        } else {
            throw .malformed("the recipient does not start with age1")
        }
    }

    /// The recipient in the form that `age` reads.
    package var text: String {
        switch self {
        case .plugin(_, let text): return text
        case .x25519(let key):
            var text = [UInt8](repeating: 0, count: Bech32.textSize(prefix: Recipient.prefix, dataSize: key.count))
            // Encoding cannot fail, because the output has the required size.
            try? text.withMutableRawBytes { (text) throws(AgeError) in
                try key.withRawBytes { (key) throws(AgeError) in
                    try Bech32.encode(key, prefix: Recipient.prefix, .lower, into: text)
                }
            }
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// Returns the reason why a string cannot be a supported recipient; nil if it may be one.
    private static func foreignKind(of text: String) -> String? {
        if text.isEmpty { return "the recipient is empty" }
        if ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"].contains(where: text.hasPrefix) {
            return "SSH keys are not supported as recipients; create a key with age-keygen"
        }
        if text.hasPrefix("age1pq1") { return "post-quantum recipients are not supported" }
        let upper = text.prefix(32).uppercased()
        if upper.hasPrefix("AGE-SECRET-KEY-") || upper.hasPrefix("AGE-PLUGIN-") {
            return "this is an identity, which is secret, and not a recipient"
        }
        return nil
    }

    private static func described(_ decode: () throws(AgeError) -> Bech32.Decoded) throws(AgeError) -> Bech32.Decoded {
        do { return try decode() } catch {
            throw error.code == .malformed ? .malformed("the recipient is invalid: \(error.detail)") : error
        }
    }
}

/// Checks plugin names, which become part of a program's name.
enum PluginName {
    private static let limit = 64

    /// Returns whether a name has only lower-case letters, digits and `+-._`. Such a name cannot contain a path.
    static func isValid(_ name: String) -> Bool {
        (1...limit).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
                default: false
                }
            }
    }
}
