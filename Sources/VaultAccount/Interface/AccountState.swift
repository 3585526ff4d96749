public import FoundationEssentials
public import Vault

/// Tells whether a person is logged in, and if not, why.
public enum AccountState<Profile: AccountProfile>: Sendable, Equatable {
    /// Nothing was read yet: the state before ``AccountManager/autoLogin()``.
    case unknown
    /// Nobody is logged in, for this reason.
    case loggedOut(LogoutReason)
    /// This person is logged in.
    case loggedIn(Account<Profile>)
    /// The login is too old, or its token has ended and only the person can renew it.
    case expired(Account<Profile>)
    /// The vault cannot be opened, so it is not known whether anyone is logged in. Nothing is cleared.
    case locked(VaultError)

    /// Tells whether a person is logged in.
    public var isLoggedIn: Bool { if case .loggedIn = self { true } else { false } }
    /// Tells whether the vault cannot be opened.
    public var isLocked: Bool { if case .locked = self { true } else { false } }

    /// Returns the account of a login that holds or has expired; nil in all other states.
    public var account: Account<Profile>? {
        switch self {
        case .loggedIn(let account), .expired(let account): account
        case .unknown, .loggedOut, .locked: nil
        }
    }
}

/// Tells why nobody is logged in.
public enum LogoutReason: String, Sendable, Hashable, Codable, StoredObject {
    /// Nobody has logged in yet.
    case never
    /// The person logged out.
    case byUser
    /// The person's login was too old and was given up.
    case expired
    /// The server no longer accepts the login.
    case rejected
    /// The server ended the session.
    case kicked
}

/// Describes the account of a person who is logged in, or whose login has expired.
public struct Account<Profile: AccountProfile>: Sendable, Equatable {
    /// Identifies the account.
    public let id: String
    /// Names the person, as typed at the login.
    public let userName: String
    /// Tells when the person logged in, by this machine's clock.
    public let loggedInAt: Date
    /// Describes the person; nil if the server has sent no profile, or the stored one cannot be read.
    public let profile: Profile?
}

/// Tells why an operation of ``AccountManager`` failed.
public enum AccountError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server answered and refused.
    case rejected(ServiceError)
    /// There is no answer from the server. Nothing was changed.
    case unreachable(ServiceError)
    /// A store failed.
    case store(VaultError)
    /// The operation needs a person who is logged in.
    case notLoggedIn(LogoutReason)
    /// The login is too old. The person has to log in again.
    case expired
    /// Another account became the current one meanwhile.
    case switched

    public var description: String {
        switch self {
        case .rejected(let error): "The server refused: \(error.message)"
        case .unreachable(let error): "The server cannot be reached: \(error.message)"
        case .store(let error): error.message
        case .notLoggedIn: "Nobody is logged in."
        case .expired: "The login has expired. Log in again."
        case .switched: "Another account is the current one now."
        }
    }
}
