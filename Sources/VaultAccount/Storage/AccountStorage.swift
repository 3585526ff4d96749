import Vault

/// Finds the stores of the accounts, anew at each use: the vault may be locked at times.
struct AccountStorage: Sendable {
    let keychain: StoreReference
    let plain: StoreReference

    func vault() throws(VaultError) -> AccountVault { AccountVault(try keychain.store()) }
    func preferences() throws(VaultError) -> AccountPreferences { AccountPreferences(try plain.store()) }

    /// Keeps a login. The fields of its profile are pending until the preferences have them.
    func logIn(_ session: Session, fields: [String: StoredValue], password: String?) throws(VaultError) {
        try vault().logIn(session, fields: fields, password: password)
        try settle()
    }

    /// Does what is pending, and erases what was removed from the vault's file.
    func finishLogout() throws(VaultError) {
        try settle()
        try vault().store.eraseRemoved()
    }

    /// Reports an error that does not change who is logged in.
    func report(_ error: VaultError) { (try? plain.store().failures)?.report(error, key: "account") }
}

/// Stores the plain part of the accounts: profiles, with a key for each field, and the last user name.
struct AccountPreferences: Sendable {
    private let store: ScopedStore

    init(_ preferences: any ValueStore) { store = preferences.scoped(to: "account") }

    var lastUserName: Storable<String> { Storable("lastUserName", in: .store(store)) }
    /// Flushes what is stored, before anything that could restore it is removed.
    func makeDurable() throws(VaultError) { try store.makeDurable() }

    private func profile(_ id: String) -> ScopedStore {
        store.scoped(to: "profile").scoped(to: AccountVault.encoded(id))
    }

    func fields(of id: String) throws(VaultError) -> [String: StoredValue] { try profile(id).contents(prefix: "") }

    /// Returns the profile of the stored fields; nil if there are none, or if they do not form one of this type.
    func profile<Profile: AccountProfile>(_ id: String, _ type: Profile.Type) throws(VaultError) -> Profile? {
        let fields = try fields(of: id)
        return fields.isEmpty ? nil : Profile.from(primitive: .dictionary(fields))
    }

    /// Writes fields. Other fields stay: a later or an older version of the app may know them.
    ///
    /// - Parameter isPending: called after the fields were read and before they are written. If another process writes
    ///   them in between, it is called again.
    func write(
        _ fields: [String: StoredValue], of id: String, if isPending: @autoclosure () throws(VaultError) -> Bool = true
    ) throws(VaultError) {
        let store = profile(id)
        try store.atomically { (transaction) throws(VaultError) in
            for name in fields.keys { _ = try transaction.read(store.field(name)) }
            guard try isPending() else { return }
            for (name, value) in fields { try transaction.write(value, to: store.field(name)) }
        }
    }

    /// Removes all fields, as ``write(_:of:if:)``, and returns those that were removed.
    func remove(
        _ id: String, if isPending: @autoclosure () throws(VaultError) -> Bool
    ) throws(VaultError) -> [String: StoredValue] {
        let store = profile(id)
        return try store.atomically { (transaction) throws(VaultError) in
            let fields = try store.fields(in: &transaction)
            guard try isPending() else { return [:] }
            for name in fields.keys { try transaction.remove(store.field(name)) }
            return fields
        }
    }

    func update<Profile: AccountProfile>(_ id: String, _ body: (inout Profile) throws -> Void) throws {
        let store = profile(id)
        try store.atomically { transaction in
            guard var profile = Profile.from(primitive: .dictionary(try store.fields(in: &transaction))) else {
                throw VaultError(.absent, "This account has no profile to update.")
            }
            let former = try profile.fields()
            try body(&profile)
            let fields = try profile.fields()
            for name in former.keys where fields[name] == nil { try transaction.remove(store.field(name)) }
            for (name, value) in fields where former[name] != value {
                try transaction.write(value, to: store.field(name))
            }
        }
    }
}

extension AccountProfile {
    /// - Throws: ``VaultError/Code/invalid`` if the profile is not stored as fields.
    func fields() throws(VaultError) -> [String: StoredValue] {
        guard case .dictionary(let fields)? = toPrimitive() else {
            throw VaultError(.invalid, "A profile must be a type with fields that can be stored.")
        }
        return fields
    }
}

extension ScopedStore {
    fileprivate func field(_ name: String) -> Storable<StoredValue> { Storable(name, in: .store(self)) }

    fileprivate func fields(in transaction: inout ValueTransaction) throws(VaultError) -> [String: StoredValue] {
        var fields: [String: StoredValue] = [:]
        for name in try keys(prefix: "") { fields[name] = try transaction.read(field(name)) }
        return fields
    }
}

/// Reports an error of a store as ``AccountError/store(_:)``.
func stored<Result>(_ result: @autoclosure () throws(VaultError) -> Result) throws(AccountError) -> Result {
    do { return try result() } catch { throw .store(error) }
}
