import Vault

/// The accounts' unencrypted data in the preferences: a key for each profile field, and the last user name.
struct AccountPreferences: Sendable {
    private let store: ScopedStore

    init(_ preferences: any ValueStore) { store = preferences.scoped(to: "account") }

    var lastUserName: Storable<String> { Storable("lastUserName", in: .store(store)) }
    /// Flushes the preferences. Call this before removing the only other copy of their data.
    func makeDurable() throws { try store.makeDurable() }

    private func profile(_ id: String) -> ScopedStore {
        store.scoped(to: "profile").scoped(to: AccountVault.encoded(id))
    }

    func fields(of id: String) throws(VaultError) -> [String: StoredValue] { try profile(id).contents(prefix: "") }

    /// Applies a change. Other fields are kept, since a newer or older version of the app may use them.
    ///
    /// - Parameter isPending: returns whether to write. It is called after the fields are read and before they are
    ///   written, and again if another process writes them in the meantime.
    func write(_ change: ProfileChange, of id: String, if isPending: @autoclosure () throws -> Bool = true) throws {
        let store = profile(id)
        try store.atomically { transaction in
            var fields: [String: StoredValue] = [:]
            for name in change.cleared.union(change.fields.keys) {
                fields[name] = try transaction.read(store.field(name))
            }
            guard try isPending() else { return }
            try store.put(change.writes(to: fields), in: &transaction)
        }
    }

    /// Removes all fields of the account `id` and returns them. `isPending` works as in ``write(_:of:if:)``.
    func remove(_ id: String, if isPending: @autoclosure () throws -> Bool) throws -> [String: StoredValue] {
        let store = profile(id)
        return try store.atomically { transaction in
            let fields = try store.fields(in: &transaction)
            guard try isPending() else { return [:] }
            for name in fields.keys { try transaction.remove(store.field(name)) }
            return fields
        }
    }

    /// Updates a profile's plain fields. Returns the change to its secret fields, which the caller stores in the vault.
    func update<Profile: AccountProfile>(
        _ id: String, adding secrets: [String: StoredValue], _ body: (inout Profile) throws -> Void
    ) throws -> ProfileChange {
        let store = profile(id)
        return try store.atomically { transaction in
            let stored = try store.fields(in: &transaction).merging(secrets) { $1 }
            guard var profile = Profile.from(primitive: .dictionary(stored)) else {
                throw VaultError(.absent, "This account has no profile to update.")
            }
            let former = try profile.fields()
            try body(&profile)
            let fields = try profile.fields()
            let change = ProfileChange(
                fields: fields.filter { former[$0.key] != $0.value },
                cleared: Set(former.keys).subtracting(fields.keys))
            try store.put(Profile.plain(change).writes(to: stored), in: &transaction)
            return Profile.secret(change)
        }
    }
}

extension ScopedStore {
    fileprivate func field(_ name: String) -> Storable<StoredValue> { Storable(name, in: .store(self)) }

    fileprivate func fields(in transaction: inout ValueTransaction) throws -> [String: StoredValue] {
        var fields: [String: StoredValue] = [:]
        for name in try keys(prefix: "") { fields[name] = try transaction.read(field(name)) }
        return fields
    }

    fileprivate func put(_ fields: [String: StoredValue?], in transaction: inout ValueTransaction) throws {
        for (name, value) in fields {
            if let value { try transaction.write(value, to: field(name)) } else { try transaction.remove(field(name)) }
        }
    }
}
