public import FoundationEssentials
public import Vault

/// The interface to an account's server, which an app implements and ``AccountManager`` calls.
///
/// Choose the kind of error with care: *rejected* logs the person out, unless a kept password allows another login;
/// *unreachable* changes nothing.
public protocol AccountService<Profile>: Sendable {
    /// The data about a person, apart from the login.
    associatedtype Profile: AccountProfile

    /// Logs in with a user name and a password.
    ///
    /// - Throws: ``AccountServiceError``: `rejected` for a wrong name or password, `unreachable` otherwise.
    func login(userName: String, password: String) async throws(AccountServiceError) -> AccountLogin<Profile>

    /// Exchanges tokens for new ones. Servers that rotate tokens accept each refresh token only once. If the response
    /// contains no refresh token, the manager keeps the current one (RFC 6749, section 6).
    ///
    /// - Throws: ``AccountServiceError``: `rejected` if the server no longer accepts the tokens, else `unreachable`.
    func refresh(_ tokens: AccountTokens) async throws(AccountServiceError) -> AccountTokens

    /// Checks whether the server still accepts the tokens.
    ///
    /// - Returns: the server's current version of the profile; nil if the server does not send it.
    /// - Throws: ``AccountServiceError``: `rejected` if the server does not accept the tokens, `unreachable` otherwise.
    func validate(_ tokens: AccountTokens) async throws(AccountServiceError) -> Profile?
}

/// The data about a person, apart from the login: any Codable type, stored field by field. A field that a later version
/// adds must be optional, or be decoded with a default. See <doc:KeepingAPersonLoggedIn>.
///
/// The fields are stored in the preferences, unencrypted, except ``secretFields``.
public protocol AccountProfile: StoredAsCodable, Equatable, Sendable {
    /// The fields that are stored in the vault, named by their `CodingKeys`; empty by default.
    static var secretFields: Set<String> { get }

    /// The fields that may be stored unencrypted although their names suggest secrets; empty by default.
    ///
    /// A field with a name such as `password`, `apiKey` or `sessionToken` that is in neither `plainFields` nor
    /// ``secretFields`` is refused with ``AccountError/store(_:)``, so no secret enters the preferences by mistake.
    static var plainFields: Set<String> { get }
}

extension AccountProfile {
    public static var secretFields: Set<String> { [] }
    public static var plainFields: Set<String> { [] }
}

/// A server's response to a login.
public struct AccountLogin<Profile: AccountProfile>: Sendable {
    /// The id of the account, which is the same at each login.
    public var accountID: String
    /// The tokens that authenticate further requests.
    public var tokens: AccountTokens
    /// The person's profile; nil if the server does not send it.
    public var profile: Profile?

    /// Creates a login from a server's response.
    public init(accountID: String, tokens: AccountTokens, profile: Profile? = nil) {
        self.accountID = accountID
        self.tokens = tokens
        self.profile = profile
    }
}

/// The tokens of a login. Printing them reveals nothing.
public struct AccountTokens: StoredAsCodable, Hashable, Sendable {
    /// The token that is sent with each request.
    public var access: String
    /// The token that is used to request new tokens; nil if the server has no refresh tokens.
    public var refresh: String?
    /// The time at which the access token expires; nil if the server does not send it.
    public var expires: Date?

    /// Creates tokens from a server's response.
    public init(access: String, refresh: String? = nil, expires: Date? = nil) {
        self.access = access
        self.refresh = refresh
        self.expires = expires
    }
}

extension AccountTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "AccountTokens(…)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
