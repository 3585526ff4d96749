/// What ``AccountManager/migrate(from:)`` has done. It holds no secret.
public struct AccountMigration: Hashable, Sendable {
    /// What came of a migration.
    public enum Outcome: Hashable, Sendable {
        /// There is no plain copy, or no account in it. A file without an account stays.
        case nothingFound
        /// The tokens are in the vault, and the person is logged in, unless someone else was.
        case tokensKept
        /// There was a password and no token: it is in the vault, and the next ``AccountManager/autoLogin()`` logs in with it.
        case passwordKept
        /// There was no token, and no password that is needed. The user name is offered as the default at the next login.
        case fieldsKept
        /// The vault had the account already, from a login or from a migration that was cut off. What it has stands.
        case alreadyKnown
    }

    /// What came of it.
    public let outcome: Outcome
    /// nil if no account was found.
    public let accountID: String?
    /// The names of the profile fields that were taken over, sorted.
    public let profileFields: [String]
}
