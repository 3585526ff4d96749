public import FoundationEssentials
package import LinuxSystem

/// The error thrown by a failed operation on a store.
///
/// Programs branch on ``code`` and show ``message`` to the user. The message says in a sentence or two what is wrong,
/// where, and how to fix it. `description` and `localizedDescription` return it too. None of them contains a secret.
///
/// A missing value is not an error. Reading returns nil if, and only if, there is no value.
public struct VaultError: Error, Hashable, Sendable {
    /// The kind of failure, for programs.
    public let code: Code
    /// The text to show to the user.
    public let message: String
    /// The value of `errno`, if a system call failed.
    public let systemError: Int32?
    /// Details that ``code`` does not convey. The module that creates the error defines their type.
    package let detail: (any Sendable)?

    /// Creates an error for your own store to throw.
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

    /// The kind of failure. Later versions may add kinds. Treat an unknown kind like ``unavailable``.
    public struct Code: Hashable, Sendable {
        /// The code's name, which is stable and thus suitable for logs and scripts.
        public let name: String

        private init(_ name: String) { self.name = name }

        /// The name does not exist, but the operation requires it.
        public static let absent = Code("absent")
        /// There is no vault at the path.
        public static let noVault = Code("noVault")
        /// There is no vault at the location, but this machine remembers one there. For example, a disk is not mounted,
        /// or a database was emptied.
        public static let gone = Code("gone")
        /// The operation would overwrite something that already exists.
        public static let exists = Code("exists")
        /// An argument is invalid, such as an unusable path, or a name, attribute, label or value that exceeds a limit.
        public static let invalid = Code("invalid")
        /// The vault cannot be opened (its key, passphrase, command or identity is missing, wrong or accessible to
        /// others, or its fingerprint is unknown on this machine), or a drop was sealed for another vault.
        public static let locked = Code("locked")
        /// The vault fails authentication or violates the format. It was changed or truncated, or is not a vault.
        public static let damaged = Code("damaged")
        /// The vault was written by a later version of the library, in a format that this version cannot read.
        public static let newerFormat = Code("newerFormat")
        /// The vault is in an older state than this machine has seen (see ``Keychain/Options/acceptedAlarms``).
        public static let rolledBack = Code("rolledBack")
        /// The vault's history differs from what this machine has seen (see ``Keychain/Options/acceptedAlarms``).
        public static let diverged = Code("diverged")
        /// The vault at the path is not the one that this machine has seen (see ``Keychain/Options/acceptedAlarms``).
        public static let exchanged = Code("exchanged")
        /// Another process kept the vault locked for too long, or kept changing the same names.
        public static let busy = Code("busy")
        /// The system refused the operation, for example because of a full disk, a read-only file system or a missing
        /// permission. The former contents are kept.
        public static let unavailable = Code("unavailable")
        /// A write failed and could not be undone, so it is unknown whether the change will last. This process writes
        /// nothing more to the vault. Restart the process to read the actual state.
        public static let outcomeUnknown = Code("outcomeUnknown")
        /// The value has a different type than the requested one.
        public static let wrongType = Code("wrongType")
        /// The value has the requested type, but that type rejects it, for example because it is out of range.
        public static let unreadable = Code("unreadable")
        /// The change would remove the policy that guards an entry. Only the `vault` command preserves policies.
        package static let guarded = Code("guarded")
    }

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

    /// Returns the first ten names, and how many more there are, for use in a sentence.
    package static func words(_ names: [String]) -> String {
        let more = names.count > 10 ? ", and \(names.count - 10) more" : ""
        return names.prefix(10).map { "\"\($0)\"" }.joined(separator: ", ") + more
    }

    /// The error for a transaction that cannot commit, because other processes keep changing the values that it reads.
    package static let contended = VaultError(.busy, "Other processes kept changing the same names. Try again.")

    package static func held(_ path: String) -> VaultError {
        VaultError(.busy, "Another process holds \(path). Try again when that process is done.")
    }

    package init(system error: SystemError, _ path: String) {
        if error.isBusy { self = .held(path) } else { self.init(refused: "\(error.call) \(path)", error.number) }
    }

    /// Creates the error for a refused action, such as "read /a/b". `number` is the value of `errno`.
    package init(refused action: String, _ number: Int32) {
        let advice = SystemError.advice(for: number).map { " " + $0 } ?? ""
        self.init(.unavailable, "Cannot \(action): \(SystemError.message(for: number)).\(advice)", systemError: number)
    }
}
