public import FoundationEssentials
public import Vault

/// Whether a person is logged in, and if not, the reason.
public enum AccountState<Profile: AccountProfile>: Sendable, Equatable {
    /// The account's data has not been read yet. This is the state before ``AccountManager/autoLogin()``.
    case unknown
    /// Nobody is logged in. The associated value gives the reason.
    case loggedOut(LogoutReason)
    /// A person is logged in. The associated value describes the account.
    case loggedIn(AccountDetails<Profile>)
    /// The login is too old, or its token has expired and there is no refresh token.
    case expired(AccountDetails<Profile>)
    /// The vault's key is missing or wrong, so it is unknown whether anyone is logged in. No data is removed.
    case locked(VaultError)
    /// The vault cannot be read for another reason, perhaps temporarily. No data is removed, and the next call retries.
    case unavailable(VaultError)

    /// Whether a person is logged in.
    public var isLoggedIn: Bool { if case .loggedIn = self { true } else { false } }

    /// The account of a login that is valid or has expired; nil in all other states.
    public var account: AccountDetails<Profile>? {
        switch self {
        case .loggedIn(let account), .expired(let account): account
        case .unknown, .loggedOut, .locked, .unavailable: nil
        }
    }
}

/// The reason why nobody is logged in.
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

/// The account of a person who is logged in, or whose login has expired. Nothing in it is secret, except a profile's
/// ``AccountProfile/secretFields``.
public struct AccountDetails<Profile: AccountProfile>: Sendable, Equatable {
    /// The account's id.
    public let id: String
    /// The user name, as entered at login.
    public let userName: String
    /// The time of the login, by this machine's clock.
    public let loggedInAt: Date
    /// The person's profile; nil if the server has sent none, or the stored one cannot be read.
    public let profile: Profile?
}
