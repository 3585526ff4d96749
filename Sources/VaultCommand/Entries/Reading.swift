import Glibc
import LinuxSystem
import SealedLog
import Sealing
import Vault

/// Which command may read a value: the attribute `policy` of its entry, and of the login that it is a field of. It guards
/// against slips. Whoever can open the vault can change it.
enum ReadingPolicy: String, CaseIterable {
    /// Only `vault run`, which hands the value to a program and shows it nowhere.
    case run

    /// Throws a usage error for attributes with a policy that does not exist. An empty one is none.
    static func check(_ attributes: [String: String]) throws(CommandError) {
        guard let text = attributes[Login.AttributeKey.policy], !text.isEmpty else { return }
        guard ReadingPolicy(rawValue: text) == nil else { return }
        throw .invalid("There is no such policy. The attribute policy is \(known), or empty.")
    }

    /// Throws `refused` unless the attributes of an entry let a command read its value. A policy that this version does
    /// not know lets none.
    static func check(_ attributes: [String: String], of entry: String, for command: CommandName) throws(CommandError) {
        guard let text = attributes[Login.AttributeKey.policy], !text.isEmpty else { return }
        // The name of a policy is that of its command.
        if let policy = ReadingPolicy(rawValue: text), policy.rawValue == command.rawValue { return }
        let rule =
            ReadingPolicy(rawValue: text).map { "Only `vault \($0.rawValue)` may read \"\(entry)\"" }
            ?? "\"\(entry)\" has a policy that this version does not know, so nothing may read it"
        throw .refused("\(rule). To lift that, run `vault attr \(entry) policy=`.")
    }

    private static var known: String { allCases.map(\.rawValue).joined(separator: " or ") }
}

extension Invocation {
    /// Returns what this command reads under a name: the value of the entry; if there is none and the name is
    /// `LOGIN.FIELD`, the attribute FIELD of the entry LOGIN; nil if there is neither.
    ///
    /// All commands read values this way alone. It keeps to the entry's policy, and records the read in the access log
    /// before it returns the value. If the log is on and cannot be written, nothing is read.
    ///
    /// - Parameters:
    ///   - action: what a command does that has several tasks, such as the `get` of a helper.
    ///   - program: the program that is started with the value.
    /// - Throws: `refused` by the policy; as ``Keychain/get(_:)``.
    func reading(
        _ name: String, from keychain: Keychain, action: String? = nil, starting program: String? = nil
    ) throws -> SealableValue? {
        let value = try readingEntry(name, from: keychain, action: action, starting: program)
        if let value { return value }
        // An attribute is no secret: lists show it.
        guard let (login, field) = Login.split(name), let text = try keychain.item(login)?.attributes[field] else {
            return nil
        }
        try keychain.recordAccess { access(to: name, action: action, starting: program) }
        return SealableValue(kind: .text, bytes: try SecretBytes(utf8: text))
    }

    /// Does the same for an entry alone.
    func readingEntry(
        _ name: String, from keychain: Keychain, action: String? = nil, starting program: String? = nil
    ) throws -> SealableValue? {
        let login = Login.split(name)?.login
        guard let found = try keychain.guardedValue(name, of: login) else { return nil }
        try ReadingPolicy.check(found.attributes, of: name, for: command)
        if let login { try ReadingPolicy.check(found.loginAttributes, of: login, for: command) }
        if found.isAccessLogged {
            try keychain.recordAccess { access(to: name, action: action, starting: program) }
        }
        return found.takeValue()
    }

    /// Keeps to the policy of an entry, and records a read, for a command that reads the value in a transaction.
    ///
    /// - Throws: as ``reading(_:from:action:starting:)``.
    func authorizeReading(of name: String, from keychain: Keychain) throws {
        guard let item = try keychain.item(name) else { return }
        try checkPolicy(of: item, in: keychain)
        try keychain.recordAccess { access(to: name) }
    }

    private func checkPolicy(of item: Keychain.Item, in keychain: Keychain) throws {
        try ReadingPolicy.check(item.attributes, of: item.name, for: command)
        guard let login = try Login.split(item.name).flatMap({ try keychain.item($0.login) }) else { return }
        try ReadingPolicy.check(login.attributes, of: login.name, for: command)
    }

    /// Describes a read by this command; or, with an empty name, a switch of the log.
    func access(to name: String, action: String? = nil, starting program: String? = nil) -> Access {
        let parent = getppid()
        return Access(
            name: name, command: ([command.rawValue] + [action].compactMap(\.self)).joined(separator: " "),
            program: LinuxSystem.program(ofProcess: parent) ?? "", process: UInt64(clamping: parent),
            user: UInt64(getuid()), started: program ?? "")
    }
}
