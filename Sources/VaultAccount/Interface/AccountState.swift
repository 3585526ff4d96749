public import FoundationEssentials
public import Vault

/// Tells whether a person is logged in, and if not, why.
public enum AccountState<Profile: AccountProfile>: Sendable, Equatable {
    /// Nothing was read yet: the state before ``AccountManager/autoLogin()``.
    case unknown
    /// Nobody is logged in, for this reason.
    case loggedOut(LogoutReason)
    /// This person is logged in.
    case loggedIn(AccountDetails<Profile>)
    /// The login is too old, or its token has ended and only the person can renew it.
    case expired(AccountDetails<Profile>)
    /// The vault's key is missing or wrong, so it is not known whether anyone is logged in. Nothing is cleared.
    case locked(VaultError)
    /// The vault cannot be read for another reason, perhaps only for a moment. Nothing is cleared, and the next call
    /// looks again.
    case unavailable(VaultError)

    /// Tells whether a person is logged in.
    public var isLoggedIn: Bool { if case .loggedIn = self { true } else { false } }

    /// Returns the account of a login that holds or has expired; nil in all other states.
    public var account: AccountDetails<Profile>? {
        switch self {
        case .loggedIn(let account), .expired(let account): account
        case .unknown, .loggedOut, .locked, .unavailable: nil
        }
    }
}

/// Tells why nobody is logged in.
public enum LogoutReason: String, Sendable, Hashable, Codable, StoredObject {
    /// Nobody has logged in yet.
    case never
    /// The person logged out.
    case byUser
    /// The server no longer accepts the login.
    case rejected
    /// The server ended the session.
    case endedByServer
}

/// Describes the account of a person who is logged in, or whose login has expired; nothing secret, except what a
/// profile has in its ``AccountProfile/secretFields``.
public struct AccountDetails<Profile: AccountProfile>: Sendable, Equatable {
    /// Identifies the account.
    public let id: String
    /// Names the person, as typed at the login.
    public let userName: String
    /// Tells when the person logged in, by this machine's clock.
    public let loggedInAt: Date
    /// Describes the person; nil if the server has sent no profile, or the stored one cannot be read.
    public let profile: Profile?
}
