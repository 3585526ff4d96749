import SealedFormat
import Vault

// Methods that check the policies set by users, and methods that read values and enforce these policies.

extension ReadingPolicy {
    /// Throws a usage error if `attributes` contain an unknown policy. An empty policy is valid.
    static func checkInput(_ attributes: [String: String]) throws(CommandError) {
        guard let text = stated(in: attributes), ReadingPolicy(rawValue: text) == nil else { return }
        throw .invalid("Unknown policy. The attribute `policy` must be \(known) or empty.")
    }

    /// Throws a usage error if `attributes` contain an unknown policy, or an empty one, which would have no effect.
    static func checkInput(_ attributes: [String: String], addedTo entry: String, _ advised: AdvisedCommand)
        throws(CommandError)
    {
        try checkInput(attributes)
        guard attributes[Login.policyKey] == "" else { return }
        throw .invalid(
            "`vault set` only adds attributes, so an empty policy has no effect. " + advised.liftingPolicy(of: entry))
    }

    private static var known: String { allCases.map(\.rawValue).joined(separator: " or ") }
}

extension Invocation {
    /// Returns the value of the entry `name`. If it does not exist and `name` has the form `LOGIN.FIELD`, returns the
    /// attribute FIELD of the entry LOGIN, or nil if that attribute does not exist either.
    ///
    /// Commands read values only through this method or `readingEntry`. Both enforce the entry's policy, and record the
    /// read in the access log before they return the value. Both throw if the log is on but cannot be written.
    ///
    /// - Parameters:
    ///   - action: the subcommand to record in the access log, such as a helper's `get`.
    ///   - program: the program that is started with the value.
    /// - Throws: the same errors as ``Keychain/read(_:for:check:access:)``.
    func reading(
        _ name: String, from keychain: Keychain, action: String? = nil, starting program: String? = nil
    ) throws -> SealableValue? {
        let value = try readingEntry(name, from: keychain, action: action, starting: program)
        if let value { return value }
        // No policy is checked here, because attributes are not secret: lists show them.
        guard let (login, field) = Login.split(name), let text = try keychain.item(login)?.attributes[field] else {
            return nil
        }
        try keychain.accessLog.record { access(to: name, action: action, starting: program) }
        return SealableValue(kind: .text, bytes: try SecretBytes(utf8: text))
    }

    /// Returns the value of the entry `name` as ``reading(_:from:action:starting:)`` does, but never an attribute.
    func readingEntry(
        _ name: String, from keychain: Keychain, action: String? = nil, starting program: String? = nil
    ) throws -> SealableValue? {
        try keychain.read(name, for: command.rawValue) { access(to: name, action: action, starting: program) }
    }

    /// Returns the access log's record of a read of `name`. An empty `name` records that the log is turned on or off.
    func access(to name: String, action: String? = nil, starting program: String? = nil) -> Access {
        Access(
            to: name, by: ([command.rawValue] + [action].compactMap(\.self)).joined(separator: " "), starting: program)
    }
}

/// A value in guarded memory. This type is a class so that collections can hold it.
final class HeldValue: Sendable {
    /// A description of the value that can begin a message, such as "The value of x".
    let label: String
    let bytes: SecretBytes

    init(_ label: String, _ bytes: consuming SecretBytes) {
        self.label = label
        self.bytes = bytes
    }

    /// - Parameter what: a destination that cannot hold a zero byte, as named in the error, such as "a variable".
    func checkForText(_ what: String) throws(CommandError) {
        guard bytes.withUnsafeBytes({ $0.contains(0) }) else { return }
        throw .invalid("\(label) contains a zero byte, which \(what) cannot hold.")
    }
}
