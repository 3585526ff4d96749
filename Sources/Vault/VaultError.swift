/// Why an operation of a store did not come about.
///
/// Look at ``code`` to decide what to do, and show ``description`` to a person: one sentence that names the file or the
/// name, and what mends it. Neither ever holds a secret.
///
/// A value that is simply not there is no error: reading gives nil for it, and only for it.
public struct VaultError: Error, Hashable, Sendable {
    /// What to decide by.
    public let code: Code
    /// The sentence for a person.
    public let message: String
    /// The value of `errno`, where a system call failed.
    public let systemError: Int32?

    /// An error that a store of your own throws.
    ///
    /// - Parameter message: one sentence that says what mends it, without any secret.
    public init(_ code: Code, _ message: String, systemError: Int32? = nil) {
        self.code = code
        self.message = message
        self.systemError = systemError
    }

    /// The kind of failure. More kinds may come; treat those you do not know like ``unavailable``.
    public struct Code: Hashable, Sendable {
        /// A stable word for the code, for logs and scripts.
        public let name: String

        private init(_ name: String) {
            self.name = name
        }

        /// The name is not there, and the operation needs it.
        public static let absent = Code("absent")
        /// There is no vault at the place.
        public static let noVault = Code("noVault")
        /// There is no vault at the place, and this machine remembers that there was one: its disk may not be mounted.
        public static let gone = Code("gone")
        /// Something is there already, and would be overwritten.
        public static let exists = Code("exists")
        /// A name, attribute, label or value that is out of bounds, or a path that cannot be meant: the caller's
        /// mistake.
        public static let invalid = Code("invalid")
        /// The vault cannot be opened: its key is missing, unreadable, open to others, damaged, or another one.
        public static let locked = Code("locked")
        /// The vault does not authenticate or breaks the format: changed, cut, or not a vault.
        public static let damaged = Code("damaged")
        /// The vault was written by a later version of the library, in a format that this one does not know.
        public static let newerFormat = Code("newerFormat")
        /// The vault is older than what this machine has seen of it.
        public static let rolledBack = Code("rolledBack")
        /// The vault has another history than the one that this machine has seen.
        public static let diverged = Code("diverged")
        /// Another vault lies where this machine has seen one.
        public static let exchanged = Code("exchanged")
        /// Another process held the vault for too long.
        public static let busy = Code("busy")
        /// The system refused: a full disk, a read-only file system, a permission. What was there holds.
        public static let unavailable = Code("unavailable")
        /// A write failed and could not be taken back: it may last or not. Open the vault anew to see.
        public static let outcomeUnknown = Code("outcomeUnknown")
        /// The value is of another type than the one asked for.
        public static let wrongType = Code("wrongType")
        /// The value is of the type that was asked for, but not one that it can be: out of bounds, or refused by it.
        public static let unreadable = Code("unreadable")
    }
}

extension VaultError: CustomStringConvertible {
    public var description: String { message }
}
