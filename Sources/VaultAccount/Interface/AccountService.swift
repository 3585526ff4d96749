public import FoundationEssentials
public import Vault

/// Talks to the server of an account. An app implements it, and ``AccountManager`` calls it.
///
/// Distinguish the errors with care: *rejected* logs the person out, unless a kept password helps; *unreachable*
/// changes nothing.
public protocol AccountService<Profile>: Sendable {
    /// Describes a person, beyond the login.
    associatedtype Profile: AccountProfile

    /// Logs in with a user name and a password.
    ///
    /// - Throws: ``AccountServiceError``: `rejected` for a wrong name or password, `unreachable` otherwise.
    func login(userName: String, password: String) async throws(AccountServiceError) -> AccountLogin<Profile>

    /// Exchanges tokens for new ones. Servers that rotate tokens accept each refresh token only once. If the answer
    /// has no refresh token, the manager keeps the present one (RFC 6749, section 6).
    ///
    /// - Throws: ``AccountServiceError``: `rejected` if the server no longer accepts the tokens, `unreachable`
    ///   otherwise.
    func refresh(_ tokens: AccountTokens) async throws(AccountServiceError) -> AccountTokens

    /// Asks whether the server still accepts the tokens.
    ///
    /// - Returns: the server's current profile; nil if the server does not send it.
    /// - Throws: ``AccountServiceError``: `rejected` if the server does not accept them, `unreachable` otherwise.
    func validate(_ tokens: AccountTokens) async throws(AccountServiceError) -> Profile?
}

/// Describes a person, beyond the login: any Codable type, stored field by field. Make fields that a later version adds
/// optional, or decode them with a default: see <doc:KeepingAPersonLoggedIn>.
///
/// The fields are stored in the preferences, in the clear, except ``secretFields``.
public protocol AccountProfile: StoredAsCodable, Equatable, Sendable {
    /// Names the fields that are stored in the vault, as their `CodingKeys` have them; none unless given.
    static var secretFields: Set<String> { get }

    /// Names the fields that may be stored in the clear although they are named like secrets; none unless given.
    ///
    /// A field with a name such as `password`, `apiKey` or `sessionToken` that is in neither list is refused with
    /// ``AccountError/store(_:)``, so that no secret gets into the preferences by mistake.
    static var plainFields: Set<String> { get }
}

extension AccountProfile {
    public static var secretFields: Set<String> { [] }
    public static var plainFields: Set<String> { [] }
}

/// Holds what a server sends at a login.
public struct AccountLogin<Profile: AccountProfile>: Sendable {
    /// Identifies the account, the same at each login.
    public var accountID: String
    /// Proves the login to the server from now on.
    public var tokens: AccountTokens
    /// Describes the person; nil if the server does not send it.
    public var profile: Profile?

    /// Creates a login from a server's answer.
    public init(accountID: String, tokens: AccountTokens, profile: Profile? = nil) {
        self.accountID = accountID
        self.tokens = tokens
        self.profile = profile
    }
}

/// Proves a login to the server. The textual form shows nothing of it.
public struct AccountTokens: StoredAsCodable, Hashable, Sendable {
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

extension AccountTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "AccountTokens(…)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
