public import FoundationEssentials
public import Vault

/// Whether a person is logged in, and if not, why.
public enum AccountState<Profile: AccountProfile>: Sendable, Equatable {
    /// Nothing was looked at yet: before ``AccountManager/autoLogin()``.
    case unknown
    /// Nobody is logged in, for this reason.
    case loggedOut(LogoutReason)
    /// This person is.
    case loggedIn(Account<Profile>)
    /// The login is too old, or its token has ended and cannot be refreshed without the person.
    case expired(Account<Profile>)
    /// The vault cannot be opened: whether someone is logged in is not known. Nothing is cleared.
    case locked(VaultError)

    /// Whether a person is logged in.
    public var isLoggedIn: Bool {
        if case .loggedIn = self { true } else { false }
    }

    /// Whether the vault cannot be opened.
    public var isLocked: Bool {
        if case .locked = self { true } else { false }
    }

    /// The account, if there is one.
    public var account: Account<Profile>? {
        switch self {
        case .loggedIn(let account), .expired(let account): account
        case .unknown, .loggedOut, .locked: nil
        }
    }
}

/// Why nobody is logged in.
public enum LogoutReason: String, Sendable, Hashable, Codable, StoredObject {
    /// Nobody has logged in yet.
    case never
    /// The person logged out.
    case byUser
    /// The person's login was too old and was given up.
    case expired
    /// The server no longer takes the login.
    case rejected
    /// The server has ended the session.
    case kicked
}

/// The account of a person who is, or was until a moment ago, logged in.
public struct Account<Profile: AccountProfile>: Sendable, Equatable {
    /// The account's id.
    public let id: String
    /// The name that the person logged in with.
    public let userName: String
    /// When the person logged in, by this machine's clock.
    public let loggedInAt: Date
    /// nil if the server has told none, or the one that is stored cannot be read.
    public let profile: Profile?
}
