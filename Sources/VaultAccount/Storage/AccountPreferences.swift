import Vault

/// The plain part of the accounts: profiles, a key for each field, and the last user name.
struct AccountPreferences: Sendable {
    private let store: ScopedStore

    init(_ preferences: any ValueStore) {
        store = preferences.scoped(to: "account")
    }

    /// The name that was last logged in with: the default at the next login.
    var lastUserName: StoredKey<String> { StoredKey("lastUserName", in: .store(store)) }

    /// Puts on the disk what is there, before what could bring it back goes.
    func makeDurable() throws(VaultError) {
        try store.makeDurable()
    }

    private func profile(_ id: String) -> ScopedStore {
        store.scoped(to: "profile").scoped(to: AccountKey.encode(id))
    }

    /// What is stored of a profile.
    func fields(of id: String) throws(VaultError) -> [String: StoredValue] {
        try profile(id).contents(prefix: "")
    }

    /// The profile that the fields make up; nil if there are none, or if they make up none of this type.
    func profile<Profile: AccountProfile>(_ id: String, _ type: Profile.Type) throws(VaultError) -> Profile? {
        let fields = try fields(of: id)
        return fields.isEmpty ? nil : Profile.from(primitive: .dictionary(fields))
    }

    /// Writes fields, and leaves those that are not among them: a later or an older version of the app may know them.
    ///
    /// - Parameter isDue: asked after these fields were read and before they are written; if somebody writes them in between, once more.
    func write(
        _ fields: [String: StoredValue], of id: String, if isDue: () throws(VaultError) -> Bool = { true }
    ) throws(VaultError) {
        let store = profile(id)
        try store.commit { (transaction) throws(VaultError) in
            for field in fields.keys { _ = try transaction.read(StoredKey<StoredValue>(field, in: .store(store))) }
            guard try isDue() else { return }
            for (field, value) in fields {
                try transaction.write(value, to: StoredKey<StoredValue>(field, in: .store(store)))
            }
        }
    }

    /// Removes all fields.
    ///
    /// - Parameter isDue: as for ``write(_:of:if:)``.
    /// - Returns: the fields that were removed.
    func remove(_ id: String, if isDue: () throws(VaultError) -> Bool) throws(VaultError) -> [String: StoredValue] {
        let store = profile(id)
        var removed: [String: StoredValue] = [:]
        try store.commit { (transaction) throws(VaultError) in
            removed = [:]
            var fields: [String: StoredValue] = [:]
            for field in try store.keys(prefix: "") {
                fields[field] = try transaction.read(StoredKey<StoredValue>(field, in: .store(store)))
            }
            guard try isDue() else { return }
            for field in fields.keys { try transaction.remove(StoredKey<StoredValue>(field, in: .store(store))) }
            removed = fields
        }
        return removed
    }

    /// Changes a profile; only the fields that come out otherwise are written.
    func update<Profile: AccountProfile>(_ id: String, _ body: (inout Profile) throws -> Void) throws -> Profile {
        let store = profile(id)
        return try store.atomically { transaction in
            var before: [String: StoredValue] = [:]
            for field in try store.keys(prefix: "") {
                before[field] = try transaction.read(StoredKey<StoredValue>(field, in: .store(store)))
            }
            guard var profile = Profile.from(primitive: .dictionary(before)) else {
                throw VaultError(.absent, "There is no profile of this account that could be updated.")
            }
            let former = try AccountPreferences.fields(of: profile)
            try body(&profile)
            let after = try AccountPreferences.fields(of: profile)
            for field in Set(former.keys).union(after.keys) where former[field] != after[field] {
                let key = StoredKey<StoredValue>(field, in: .store(store))
                if let value = after[field] {
                    try transaction.write(value, to: key)
                } else {
                    try transaction.remove(key)
                }
            }
            return profile
        }
    }

    /// - Throws: ``VaultError/Code/invalid`` if the profile is not stored as fields.
    static func fields(of profile: some AccountProfile) throws(VaultError) -> [String: StoredValue] {
        guard case .dictionary(let fields)? = profile.toPrimitive() else {
            throw VaultError(.invalid, "A profile has to be a type with fields that can be stored.")
        }
        return fields
    }
}
