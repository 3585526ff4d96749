public import Vault

/// Names where older code kept an account in plain form.
public struct AccountSource: Sendable {
    enum Location: Sendable {
        case file(@Sendable () throws(VaultError) -> PlainFile?)
        case preferences(any ValueStore)
    }

    let location: Location
    /// Distinguishes the source from others.
    let name: String
    let names: AccountFieldNames

    /// Names a property list or a JSON file that holds the account and nothing else, with its fields at the root.
    ///
    /// All fields except the secrets become fields of the profile and keep their names, id and user name included.
    public static func file(_ path: String, names: AccountFieldNames = AccountFieldNames()) -> AccountSource {
        let location = Location.file { () throws(VaultError) in try PlainFile(path: path) }
        return AccountSource(location: location, name: path, names: names)
    }

    /// Names a store, usually ``Vault/Preferences``, with the account among other values. Only named keys are taken.
    public static func preferences(
        _ store: some ValueStore, names: AccountFieldNames = AccountFieldNames(id: nil)
    ) -> AccountSource {
        let path = try? (store as? Preferences)?.path
        return AccountSource(location: .preferences(store), name: "preferences " + (path ?? ""), names: names)
    }
}

/// Lists the names under which older code kept the parts of an account; nil for a part to ignore.
///
/// Values are strings; the id and the user name may be integers too. An empty string counts as absent.
public struct AccountFieldNames: Hashable, Sendable {
    /// Names the account's id, as the server sends it at a login. If there is none, the user name takes its place.
    public var id: String?
    /// Names the user name. If there is none, the id takes its place.
    public var userName: String?
    /// Names the access token.
    public var token: String?
    /// Names the refresh token.
    public var refreshToken: String?
    /// Names the password; ``AccountManager/migrate(from:)`` explains what happens to it.
    public var password: String?
    /// Names fields that are removed with the plain copy: above all, secrets that ``AccountManager`` does not keep.
    public var dropped: Set<String>

    /// Creates a list of names, with the usual ones as defaults.
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

    /// The fields that must not get into the preferences.
    var secrets: Set<String> {
        dropped.union([token, refreshToken, password].compactMap(\.self))
    }

    var all: Set<String> {
        secrets.union([id, userName].compactMap(\.self))
    }
}

/// Reports what ``AccountManager/migrate(from:)`` did. It holds no secret.
public struct AccountMigration: Hashable, Sendable {
    /// Tells how a migration ended.
    public enum Outcome: Hashable, Sendable {
        /// There is no plain copy, or no account in it. A file without an account stays.
        case nothingFound
        /// The tokens are in the vault, and the person is logged in, unless someone else was.
        case tokensKept
        /// There was a password and no token. The next ``AccountManager/autoLogin()`` logs in with it.
        case passwordKept
        /// There was no token, and no password that is needed. The user name is the default at the next login.
        case fieldsKept
        /// The vault already had the account, from a login or from an interrupted migration. It keeps what it had.
        case alreadyKnown
    }

    /// Tells how the migration ended.
    public let outcome: Outcome
    /// Identifies the account; nil if none was found.
    public let accountID: String?
    /// Lists the names of the profile fields that were taken over, sorted.
    public let profileFields: [String]
}
