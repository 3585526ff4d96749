import FoundationEssentials
import Vault

/// An account as older code kept it.
struct PlainAccount {
    let id: String
    let userName: String
    let tokens: Tokens?
    let password: String?
    /// All fields except the secrets; none if the account is stored among other values.
    let fields: [String: StoredValue]

    /// Finds the account among values; nil if there is none.
    ///
    /// - Throws: ``VaultError``: `wrongType` if a part is not a string; `invalid` for secrets without id and user name.
    init?(_ values: [String: StoredValue], _ names: AccountFieldNames, keepingFields: Bool) throws(VaultError) {
        let id = try values.text(names.id, orInteger: true)
        let userName = try values.text(names.userName, orInteger: true)
        tokens = try PlainAccount.tokens(access: values.text(names.token), refresh: values.text(names.refreshToken))
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

    /// A refresh token alone is worth as much as both: beside an access token that has ended, it is used at once.
    private static func tokens(access: String?, refresh: String?) -> Tokens? {
        if let access { return Tokens(access: access, refresh: refresh) }
        return refresh.map { Tokens(access: "", refresh: $0, expires: .distantPast) }
    }
}

extension [String: StoredValue] {
    /// Returns nil if the field is absent or empty.
    fileprivate func text(_ name: String?, orInteger: Bool = false) throws(VaultError) -> String? {
        guard let name, let value = self[name] else { return nil }
        switch value {
        case .null: return nil
        case .integer(let number) where orInteger: return String(number)
        default:
            guard let text = String(stored: value) else {
                throw VaultError(
                    .wrongType,
                    "The field \"\(name)\" of the older account must be a string, but is \(value.typeName). Nothing was migrated."
                )
            }
            return text.isEmpty ? nil : text
        }
    }
}
