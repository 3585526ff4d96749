/// The names under which older code kept the parts of an account. nil: it kept no such thing, or it is not to be looked for.
///
/// Values are strings; the id and the user name may be integers too. An empty one counts as absent.
public struct AccountFieldNames: Hashable, Sendable {
    /// The account's id, the same that the server gives at a login. Where there is none, the user name stands for it.
    public var id: String?
    /// Where there is none, the id stands for it.
    public var userName: String?
    /// The access token.
    public var token: String?
    /// The token that gets new ones.
    public var refreshToken: String?
    /// The password; see ``AccountManager/migrate(from:)`` for what becomes of it.
    public var password: String?
    /// Fields that go with the plain copy: secrets, above all, that ``AccountManager`` has no place for.
    public var dropped: Set<String>

    /// Names the parts; those that are usual are the defaults.
    public init(
        id: String? = "id", userName: String? = "username", token: String? = "token",
        refreshToken: String? = "refreshToken", password: String? = "password", dropped: Set<String> = []
    ) {
        self.id = id
        self.userName = userName
        self.token = token
        self.refreshToken = refreshToken
        self.password = password
        self.dropped = dropped
    }

    /// Those that must not lie in the preferences.
    var secrets: Set<String> {
        dropped.union([token, refreshToken, password].compactMap(\.self))
    }

    var all: Set<String> {
        secrets.union([id, userName].compactMap(\.self))
    }
}
