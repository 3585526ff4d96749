import FoundationEssentials
public import Vault

/// Names where older code kept an account in plain form: see <doc:Migrating>.
public struct AccountSource: Sendable {
    /// Distinguishes the source from others.
    let name: String
    /// Returns the account of the plain copy, and what removes the copy; nil if there is none.
    let account: @Sendable () throws(VaultError) -> (PlainAccount, removeCopy: () throws(VaultError) -> Void)?

    /// Names a property list, a keyed archive or a JSON file that holds the account and nothing else, with its fields
    /// at the root.
    public static func file(_ path: String, names: AccountFieldNames = AccountFieldNames()) -> AccountSource {
        file(named: path, names) { () throws(VaultError) in try PlainFile(path: path) }
    }

    static func file(
        named name: String, _ names: AccountFieldNames, _ open: @escaping @Sendable () throws(VaultError) -> PlainFile?
    ) -> AccountSource {
        AccountSource(name: name) { () throws(VaultError) in
            guard let file = try open(), let account = try PlainAccount(file.values, names, keepingFields: true) else {
                return nil
            }
            return (account, { () throws(VaultError) in try file.remove() })
        }
    }

    /// Names a store, usually ``Vault/Preferences``, with the account among other values. Only named keys are taken.
    public static func preferences(
        _ store: some ValueStore, names: AccountFieldNames = AccountFieldNames(id: nil)
    ) -> AccountSource {
        let path = try? (store as? Preferences)?.path
        return AccountSource(name: "preferences " + (path ?? "")) { () throws(VaultError) in
            var values: [String: StoredValue] = [:]
            for name in names.all { values[name] = try store.value(of: name) }
            let account = try PlainAccount(values, names, keepingFields: false)
            return account.map { [values] in ($0, { () throws(VaultError) in try store.remove(values) }) }
        }
    }
}

/// Lists the names under which older code kept the parts of an account; nil for a part to ignore: see <doc:Migrating>.
public struct AccountFieldNames: Hashable, Sendable {
    /// Names the account's id, as the server sends it at a login. If there is none, the user name takes its place.
    public var id: String?
    /// Names the user name. If there is none, the id takes its place.
    public var userName: String?
    /// Names the access token.
    public var token: String?
    /// Names the refresh token.
    public var refreshToken: String?
    /// Names the password.
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
    var secrets: Set<String> { dropped.union([token, refreshToken, password].compactMap(\.self)) }
    var all: Set<String> { secrets.union([id, userName].compactMap(\.self)) }
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

// MARK: - Reading the plain copy

extension ValueStore {
    /// Removes values durably, unless another process changed one. If it removed them all, there is nothing left to do.
    fileprivate func remove(_ values: [String: StoredValue]) throws(VaultError) {
        let removals = values.mapValues { _ in StoredValue?.none }
        if try !commit(StoreBatch(removals, expecting: values.mapValues { $0 })) {
            for name in values.keys where try value(of: name) != nil {
                throw VaultError(.busy, "The older account changed during the migration. Migrate it again.")
            }
        }
        try makeDurable()
    }
}

struct PlainAccount {
    let id: String
    let userName: String
    let tokens: AccountTokens?
    let password: String?
    /// All fields except the secrets; none if the account is stored among other values.
    let fields: [String: StoredValue]

    /// Finds the account among values; nil if there is none.
    init?(_ values: [String: StoredValue], _ names: AccountFieldNames, keepingFields: Bool) throws(VaultError) {
        let id = try values.text(names.id, orInteger: true)
        let userName = try values.text(names.userName, orInteger: true)
        let (access, refresh) = (try values.text(names.token), try values.text(names.refreshToken))
        // A refresh token alone is worth as much as both: beside an access token that has ended, it is used at once.
        tokens =
            access.map { AccountTokens(access: $0, refresh: refresh) }
            ?? refresh.map { AccountTokens(access: "", refresh: $0, expires: .distantPast) }
        password = try values.text(names.password)
        guard let known = id ?? userName else {
            guard tokens == nil, password == nil else {
                throw VaultError(
                    .invalid, "The older account has a secret, but neither an id nor a user name. Nothing was migrated."
                )
            }
            return nil
        }
        self.id = known
        self.userName = userName ?? known
        let secrets = names.secrets
        fields = keepingFields ? values.filter { !secrets.contains($0.key) } : [:]
    }
}

extension [String: StoredValue] {
    /// Returns nil if the field is absent or empty.
    fileprivate func text(_ name: String?, orInteger: Bool = false) throws(VaultError) -> String? {
        guard let name, let value = self[name], value != .null else { return nil }
        if orInteger, case .integer(let number) = value { return String(number) }
        guard let text = String.primitive(of: value) else {
            throw VaultError(
                .wrongType,
                """
                The field "\(name)" of the older account must be a string, but is \(value.typeName). Nothing was \
                migrated.
                """
            )
        }
        return text.isEmpty ? nil : text
    }
}
