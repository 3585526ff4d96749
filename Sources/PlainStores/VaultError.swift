public import FoundationEssentials
package import LinuxSystem

/// Why an operation of a store failed.
///
/// Programs decide by ``code`` and show ``message`` to the user: a sentence or two on what is wrong, where, and how to
/// fix it. `description` and `localizedDescription` are the message too. None of them contains a secret.
///
/// A missing value is no error: reading returns nil for it, and only for it.
public struct VaultError: Error, Hashable, Sendable {
    /// The kind of failure, for programs.
    public let code: Code
    /// The text to show to the user.
    public let message: String
    /// The value of `errno`, if a system call failed.
    public let systemError: Int32?
    /// Details that ``code`` does not distinguish, of a type of the module that creates the error.
    package let detail: (any Sendable)?

    /// Creates an error that a store of your own throws.
    ///
    /// - Parameter message: what is wrong and how to fix it, without any secret.
    public init(_ code: Code, _ message: String, systemError: Int32? = nil) {
        self.init(code, message, systemError: systemError, detail: nil)
    }

    package init(_ code: Code, _ message: String, systemError: Int32?, detail: (any Sendable)?) {
        self.code = code
        self.message = message
        self.systemError = systemError
        self.detail = detail
    }

    /// The kind of failure. Later versions may add kinds. Treat unknown ones like ``unavailable``.
    public struct Code: Hashable, Sendable {
        /// A stable word for the code, for logs and scripts.
        public let name: String

        private init(_ name: String) { self.name = name }

        /// The name does not exist, and the operation needs it.
        public static let absent = Code("absent")
        /// There is no vault at the path.
        public static let noVault = Code("noVault")
        /// There is no vault at the location, but this machine remembers one there: a disk may not be mounted, or a
        /// database may have been emptied.
        public static let gone = Code("gone")
        /// Something exists already and would be overwritten.
        public static let exists = Code("exists")
        /// The caller's mistake: a name, attribute, label or value out of bounds, or a path that cannot be meant.
        public static let invalid = Code("invalid")
        /// Nothing opens the vault: its key, passphrase, command or identity is missing, wrong or open to others, or
        /// its fingerprint is unknown on this machine. Or a drop was sealed for another vault.
        public static let locked = Code("locked")
        /// The vault does not authenticate or breaks the format: changed, cut, or not a vault.
        public static let damaged = Code("damaged")
        /// The vault was written by a later version of the library, in a format that this version cannot read.
        public static let newerFormat = Code("newerFormat")
        /// The vault is older than this machine has seen it; see ``Keychain/Options/acceptedAlarms``.
        public static let rolledBack = Code("rolledBack")
        /// The vault has another history than this machine has seen; see ``Keychain/Options/acceptedAlarms``.
        public static let diverged = Code("diverged")
        /// The vault at the path is another one than this machine has seen there; see
        /// ``Keychain/Options/acceptedAlarms``.
        public static let exchanged = Code("exchanged")
        /// Another process held the vault for too long.
        public static let busy = Code("busy")
        /// The system refused: a full disk, a read-only file system, a permission. The former contents are kept.
        public static let unavailable = Code("unavailable")
        /// A write failed and could not be undone, so the change may or may not last. This process writes nothing more
        /// to that vault: restart it to read the actual state.
        public static let outcomeUnknown = Code("outcomeUnknown")
        /// The value has another type than the one asked for.
        public static let wrongType = Code("wrongType")
        /// The value has the type that was asked for, but the type rejects it, for example as out of bounds.
        public static let unreadable = Code("unreadable")
        /// An entry would lose the policy that guards it. Only the command keeps policies.
        package static let guarded = Code("guarded")
    }
}

extension VaultError {
    /// Compares code, message and system error, but not the detail.
    public static func == (left: VaultError, right: VaultError) -> Bool {
        left.code == right.code && left.message == right.message && left.systemError == right.systemError
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
        hasher.combine(systemError)
    }
}

extension VaultError: LocalizedError, CustomStringConvertible {
    public var description: String { message }
    /// The message, for `localizedDescription`.
    public var errorDescription: String? { message }

    /// Returns names for a sentence: the first ten, and how many more there are.
    package static func words(_ names: [String]) -> String {
        let more = names.count > 10 ? ", and \(names.count - 10) more" : ""
        return names.prefix(10).map { "\"\($0)\"" }.joined(separator: ", ") + more
    }

    /// Other transactions kept changing the values that this one had read, before it could commit.
    package static let contended = VaultError(.busy, "Other processes kept changing the same names. Try again.")

    package static func held(_ path: String) -> VaultError {
        VaultError(.busy, "Another process holds \(path). Try again when it is done.")
    }

    package init(system error: SystemError, _ path: String) {
        if error.isBusy { self = .held(path) } else { self.init(refused: "\(error.call) \(path)", error.number) }
    }

    /// Creates the error of a refused action, such as "read /a/b"; `number` is the value of `errno`.
    package init(refused action: String, _ number: Int32) {
        let advice = SystemError.advice(for: number).map { " " + $0 } ?? ""
        self.init(.unavailable, "Cannot \(action): \(SystemError.message(for: number)).\(advice)", systemError: number)
    }
}
