public import FoundationEssentials
public import Vault

/// Talks to the server of an account. An app implements it, and ``AccountManager`` calls it.
///
/// Distinguish the errors with care: *rejected* logs the person out, *unreachable* changes nothing.
public protocol AccountService<Profile>: Sendable {
    /// Describes a person, beyond the login.
    associatedtype Profile: AccountProfile

    /// Logs in with a user name and a password.
    ///
    /// - Throws: ``ServiceError``: `rejected` for a wrong name or password, `unreachable` otherwise.
    func login(userName: String, password: String) async throws(ServiceError) -> Login<Profile>

    /// Exchanges tokens for new ones. Servers that rotate tokens accept each refresh token only once.
    ///
    /// - Throws: ``ServiceError``: `rejected` if the server no longer accepts the tokens, `unreachable` otherwise.
    func refresh(_ tokens: Tokens) async throws(ServiceError) -> Tokens

    /// Asks whether the server still accepts the tokens.
    ///
    /// - Returns: the server's current profile; nil if the server does not send it.
    /// - Throws: ``ServiceError``: `rejected` if the server does not accept them, `unreachable` otherwise.
    func validate(_ tokens: Tokens) async throws(ServiceError) -> Profile?
}

/// Describes a person, beyond the login: any Codable type, stored field by field. Make fields that a later version adds
/// optional, or decode them with a default: see <doc:KeepingAPersonLoggedIn>.
public protocol AccountProfile: StoredAsCodable, Equatable, Sendable {}

/// Holds what a server sends at a login.
public struct Login<Profile: AccountProfile>: Sendable {
    /// Identifies the account, the same at each login.
    public var accountID: String
    /// Proves the login to the server from now on.
    public var tokens: Tokens
    /// Describes the person; nil if the server does not send it.
    public var profile: Profile?

    /// Creates a login from a server's answer.
    public init(accountID: String, tokens: Tokens, profile: Profile? = nil) {
        self.accountID = accountID
        self.tokens = tokens
        self.profile = profile
    }
}

/// Proves a login to the server. The textual form shows nothing of it.
public struct Tokens: StoredAsCodable, Hashable, Sendable {
    /// Goes with each request.
    public var access: String
    /// Obtains new tokens; nil if the server has no refresh tokens.
    public var refresh: String?
    /// Tells when the access token ends; nil if the server does not say.
    public var expires: Date?

    /// Creates tokens from a server's answer.
    public init(access: String, refresh: String? = nil, expires: Date? = nil) {
        self.access = access
        self.refresh = refresh
        self.expires = expires
    }
}

extension Tokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "Tokens(…)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Tells why the server did not do what it was asked for.
public struct ServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Distinguishes an answer from the lack of one.
    public enum Kind: Hashable, Sendable {
        /// The server answered and refused. It will refuse the same request again.
        case rejected
        /// There is no usable answer: no network, a time-out, a server's own error. A later attempt may succeed.
        case unreachable
    }

    /// Tells whether the server refused or did not answer.
    public let kind: Kind
    /// Explains the failure in a sentence for people, without any secret in it.
    public let message: String
    /// Tells how long the server asks clients to wait, if it says so.
    public let retryAfter: Duration?
    /// Tells whether the server ended the session: a rejection that logs the person out as ``LogoutReason/kicked``.
    public let isKick: Bool

    /// Creates an error for a server that answered and refused.
    public static func rejected(_ message: String) -> ServiceError {
        ServiceError(kind: .rejected, message: message, retryAfter: nil, isKick: false)
    }

    /// Creates an error for a server that refused because it ended the session.
    public static func kicked(_ message: String) -> ServiceError {
        ServiceError(kind: .rejected, message: message, retryAfter: nil, isKick: true)
    }

    /// Creates an error for a server without a usable answer.
    public static func unreachable(_ message: String, retryAfter: Duration? = nil) -> ServiceError {
        ServiceError(kind: .unreachable, message: message, retryAfter: retryAfter, isKick: false)
    }

    public var description: String { message }
}

/// Sets how often an unreachable server is asked again, and with which pauses.
public struct RetryPolicy: Hashable, Sendable {
    /// Limits the attempts; there is at least one.
    public var attempts: Int
    /// Sets the first pause; each later one is twice as long.
    public var firstPause: Duration
    /// Limits each pause, whatever the server asks for.
    public var longestPause: Duration

    /// Creates a policy: without arguments three attempts, half a second and a second apart.
    public init(attempts: Int = 3, firstPause: Duration = .milliseconds(500), longestPause: Duration = .seconds(30)) {
        self.attempts = max(1, attempts)
        self.firstPause = firstPause
        self.longestPause = longestPause
    }

    /// Asks once.
    public static let once = RetryPolicy(attempts: 1)
}
