import SealedFormat
import Sealing
import Vault

// The checks of policies that users set, and the reads to which policies apply.

extension ReadingPolicy {
    /// Throws a usage error for attributes with an unknown policy. An empty policy means none.
    static func checkInput(_ attributes: [String: String]) throws(CommandError) {
        guard let text = stated(in: attributes), ReadingPolicy(rawValue: text) == nil else { return }
        throw .invalid("Unknown policy. The attribute `policy` must be \(known) or empty.")
    }

    /// Throws a usage error for an unknown or empty policy, because added attributes cannot lift a policy.
    static func checkInput(_ attributes: [String: String], addedTo entry: String) throws(CommandError) {
        try checkInput(attributes)
        guard attributes[Login.policyKey] == "" else { return }
        throw .invalid("`vault set` only adds attributes, so an empty policy has no effect. \(lifting(entry))")
    }

    private static var known: String { allCases.map(\.rawValue).joined(separator: " or ") }
}

extension Invocation {
    /// Returns the value of the entry with a name. If there is none and the name is `LOGIN.FIELD`, returns the
    /// attribute FIELD of the entry LOGIN, or nil if that does not exist either.
    ///
    /// Commands read values only by this method or `readingEntry`. Both enforce the entry's policy, and record the read
    /// in the access log before they return the value. If the log is on but cannot be written, they read nothing.
    ///
    /// - Parameters:
    ///   - action: the task of a command that has several, such as the `get` of a helper.
    ///   - program: the program that is started with the value.
    /// - Throws: the errors of ``Keychain/read(_:for:check:access:)``.
    func reading(
        _ name: String, from keychain: Keychain, action: String? = nil, starting program: String? = nil
    ) throws -> SealableValue? {
        let value = try readingEntry(name, from: keychain, action: action, starting: program)
        if let value { return value }
        // An attribute is not secret, since lists show it.
        guard let (login, field) = Login.split(name), let text = try keychain.item(login)?.attributes[field] else {
            return nil
        }
        try keychain.accessLog.record { access(to: name, action: action, starting: program) }
        return SealableValue(kind: .text, bytes: try SecretBytes(utf8: text))
    }

    /// Returns the value of an entry in the same way, but never an attribute.
    func readingEntry(
        _ name: String, from keychain: Keychain, action: String? = nil, starting program: String? = nil
    ) throws -> SealableValue? {
        try keychain.read(name, for: command.rawValue) { access(to: name, action: action, starting: program) }
    }

    /// Returns the log entry for a read by this command or, with an empty name, for a switch of the log.
    func access(to name: String, action: String? = nil, starting program: String? = nil) -> Access {
        Access(
            to: name, by: ([command.rawValue] + [action].compactMap(\.self)).joined(separator: " "), starting: program)
    }
}

/// A value in guarded memory, in a class so that collections can hold it.
final class HeldValue: Sendable {
    /// The value's description in messages, as the beginning of a sentence.
    let label: String
    let bytes: SecretBytes

    init(_ label: String, _ bytes: consuming SecretBytes) {
        self.label = label
        self.bytes = bytes
    }

    /// - Parameter what: the target that cannot hold a zero byte, such as "a variable".
    func checkForText(_ what: String) throws(CommandError) {
        guard bytes.withUnsafeBytes({ $0.contains(0) }) else { return }
        throw .invalid("\(label) contains a zero byte, which \(what) cannot hold.")
    }
}
