public import Vault

/// The server side of an account, as an app implements it: what ``AccountManager`` asks when it needs the network.
///
/// Tell *rejected* from *unreachable* with care: a rejection logs the person out, an unreachable server changes nothing.
public protocol AccountService<Profile>: Sendable {
    /// What the app knows of a person beside the login.
    associatedtype Profile: AccountProfile

    /// Logs in with a user name and a password.
    ///
    /// - Throws: ``ServiceError``: `rejected` for a wrong name or password, `unreachable` otherwise.
    func login(userName: String, password: String) async throws(ServiceError) -> Login<Profile>

    /// Gets new tokens for old ones. Servers that rotate give a new refresh token each time and take each only once.
    ///
    /// - Throws: ``ServiceError``: `rejected` if the server no longer takes the tokens.
    func refresh(_ tokens: Tokens) async throws(ServiceError) -> Tokens

    /// Asks whether the server still takes the tokens.
    ///
    /// - Returns: the profile as the server has it now; nil if it does not say.
    /// - Throws: ``ServiceError``: `rejected` if it does not take them.
    func validate(_ tokens: Tokens) async throws(ServiceError) -> Profile?
}

/// What an app knows of a person beside the login: any Codable type, stored field by field.
///
/// Make fields that come with a later version optional, or decode them with a default of their own: the default of a declaration alone is
/// not enough for Codable. A profile that cannot be read logs nobody
/// out: it is then nil until the server tells it anew.
public protocol AccountProfile: StoredAsCodable, Equatable, Sendable {}

/// What a server gives at a login.
public struct Login<Profile: AccountProfile>: Sendable {
    /// The account's id, the same at each login.
    public var accountID: String
    /// What the server takes as proof from now on.
    public var tokens: Tokens
    /// nil if the server does not tell it.
    public var profile: Profile?

    /// A login as the server has answered it.
    public init(accountID: String, tokens: Tokens, profile: Profile? = nil) {
        self.accountID = accountID
        self.tokens = tokens
        self.profile = profile
    }
}

/// Why the server did not do what it was asked for.
public struct ServiceError: Error, Hashable, Sendable {
    /// The kind of failure.
    public enum Kind: Hashable, Sendable {
        /// The server has answered, and says no: it will not say yes to the same again.
        case rejected
        /// No answer, or none that means something: no network, a time-out, a server's own error. Asking later may help.
        case unreachable
    }

    /// Whether the server said no, or nothing.
    public let kind: Kind
    /// A sentence for people, without any secret in it.
    public let message: String
    /// How long the server wants to be left alone, if it says so.
    public let retryAfter: Duration?
    /// Whether it is a rejection because the server has ended the session: the person is then logged out as ``LogoutReason/kicked``.
    public let isKick: Bool

    private init(_ kind: Kind, _ message: String, retryAfter: Duration? = nil, isKick: Bool = false) {
        self.kind = kind
        self.message = message
        self.retryAfter = retryAfter
        self.isKick = isKick
    }

    /// The server has answered, and says no.
    public static func rejected(_ message: String) -> ServiceError {
        ServiceError(.rejected, message)
    }

    /// The server has answered, and says no because it has ended the session.
    public static func kicked(_ message: String) -> ServiceError {
        ServiceError(.rejected, message, isKick: true)
    }

    /// No answer, or none that means something.
    public static func unreachable(_ message: String, retryAfter: Duration? = nil) -> ServiceError {
        ServiceError(.unreachable, message, retryAfter: retryAfter)
    }
}

extension ServiceError {
    /// What a rejection logs the person out with.
    var logoutReason: LogoutReason { isKick ? .kicked : .rejected }
}

extension ServiceError: CustomStringConvertible {
    public var description: String { message }
}
