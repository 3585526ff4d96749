import FoundationEssentials
public import Vault

/// The location of an account that older code stored unencrypted. See <doc:Migrating>.
public struct AccountSource: Sendable {
    /// The name that distinguishes this source from others.
    let name: String
    /// Returns the unencrypted account and a closure that removes this unencrypted copy; nil if there is no account.
    let account: @Sendable () throws -> (PlainAccount, removeCopy: () throws -> Void)?

    /// Returns a source for a property list, keyed archive or JSON file whose root contains only the account's fields.
    public static func file(_ path: String, names: AccountFieldNames = AccountFieldNames()) -> AccountSource {
        file(named: path, names) { try PlainFile(path: path) }
    }

    static func file(
        named name: String, _ names: AccountFieldNames, _ open: @escaping @Sendable () throws -> PlainFile?
    ) -> AccountSource {
        AccountSource(name: name) {
            guard let file = try open(), let account = try PlainAccount(file.values, names, keepingFields: true) else {
                return nil
            }
            return (account, { try file.remove() })
        }
    }

    /// Returns a source for a store, usually ``Vault/Preferences``, that contains the account among other values. Only
    /// keys in `names` are migrated.
    public static func preferences(
        _ store: some ValueStore, names: AccountFieldNames = AccountFieldNames(id: nil)
    ) -> AccountSource {
        let path = try? (store as? Preferences)?.path
        return AccountSource(name: "preferences " + (path ?? "")) {
            var values: [String: StoredValue] = [:]
            for name in names.all { values[name] = try store.value(of: name) }
            let account = try PlainAccount(values, names, keepingFields: false)
            return account.map { [values] in ($0, { try store.remove(values) }) }
        }
    }
}

/// The names under which older code stored the parts of an account; nil for a part to ignore. See <doc:Migrating>.
public struct AccountFieldNames: Hashable, Sendable {
    /// The name of the field with the account's server-assigned id. If the field is absent, the user name is used.
    public var id: String?
    /// The name of the field with the user name. If the field is absent, the id is used.
    public var userName: String?
    /// The name of the field with the access token.
    public var token: String?
    /// The name of the field with the refresh token.
    public var refreshToken: String?
    /// The name of the field with the password.
    public var password: String?
    /// The names of fields that are removed with the unencrypted copy but not migrated, especially secrets.
    public var dropped: Set<String>

    /// Creates a list of field names. The defaults are names in common use.
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

    var secrets: Set<String> { dropped.union([token, refreshToken, password].compactMap(\.self)) }
    var all: Set<String> { secrets.union([id, userName].compactMap(\.self)) }
}

/// The result of ``AccountManager/migrate(from:)``. It contains no secret.
public struct AccountMigration: Hashable, Sendable {
    /// The outcome of a migration.
    public enum Outcome: Hashable, Sendable {
        /// No older, unencrypted account was found. A source file without an account is not removed.
        case nothingFound
        /// The tokens were stored in the vault. The person is now logged in, unless someone else already was.
        case tokensKept
        /// There was a password but no token. The next ``AccountManager/autoLogin()`` logs in with it.
        case passwordKept
        /// There was no token. Any password was dropped or kept for a current account. The next login offers the name.
        case fieldsKept
        /// The vault already had the account, from a login or an interrupted migration. Its data was not changed.
        case alreadyKnown
    }

    /// The outcome of the migration.
    public let outcome: Outcome
    /// The account's id; nil if no account was found.
    public let accountID: String?
    /// The names of the migrated profile fields, sorted.
    public let profileFields: [String]
}

extension ValueStore {
    /// Removes values durably. Throws `busy` if any has changed or only some are gone; succeeds if all are gone.
    fileprivate func remove(_ values: [String: StoredValue]) throws {
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
    /// The account's fields without its secrets; empty if the source is a store that also contains other values.
    let fields: [String: StoredValue]

    init?(_ values: [String: StoredValue], _ names: AccountFieldNames, keepingFields: Bool) throws {
        let id = try values.text(names.id, orInteger: true)
        let userName = try values.text(names.userName, orInteger: true)
        let access = try values.text(names.token)
        let refresh = try values.text(names.refreshToken)
        // A refresh token is enough: the missing access token counts as expired, and is renewed when needed.
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
    /// Returns a field as a string; nil if it is absent or empty.
    fileprivate func text(_ name: String?, orInteger: Bool = false) throws -> String? {
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
