public import Vault

/// Where older code kept an account in plain form.
public struct AccountSource: Sendable {
    enum Place: Sendable {
        case file(@Sendable () throws(VaultError) -> PlainFile?)
        case preferences(any ValueStore)
    }

    let place: Place
    /// Tells the source from others.
    let name: String
    let names: AccountFieldNames

    init(_ place: Place, name: String, names: AccountFieldNames) {
        self.place = place
        self.name = name
        self.names = names
    }

    /// A property list, XML or binary, or JSON that holds the account and nothing else, its fields at the root.
    ///
    /// All fields but the secrets become fields of the profile, under the names that they have, id and user name too.
    public static func file(_ path: String, names: AccountFieldNames = AccountFieldNames()) -> AccountSource {
        AccountSource(.file { () throws(VaultError) in try PlainFile(path: path) }, name: path, names: names)
    }

    /// A store, ``Vault/Preferences`` as a rule, in which the account lies among other values. Only the keys that are named are taken.
    public static func preferences(
        _ store: some ValueStore, names: AccountFieldNames = AccountFieldNames(id: nil)
    ) -> AccountSource {
        let path = try? (store as? Preferences)?.path
        return AccountSource(.preferences(store), name: "preferences " + (path ?? ""), names: names)
    }
}
