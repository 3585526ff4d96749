import Vault

/// The secret part of the accounts: it decides who is logged in.
///
/// All of it lies in one scope of a store, so that a login or a logout is one commit. Keys: `current`, an account's id; `ended`, why nobody
/// is logged in; `waiting`, a login to come; and for each account `session/ID`, `password/ID`, `turn/ID`, what the preferences still owe,
/// `owed/ID` and `leaving/ID`, and `migrated/ID` while the plain copy that it was taken from is not removed.
struct AccountVault: Sendable {
    let store: ScopedStore

    init(_ keychain: any ValueStore) {
        store = keychain.scoped(to: "account")
    }

    private func key<Value: StoredObject>(_ name: String, _ type: Value.Type = Value.self) -> StoredKey<Value> {
        StoredKey(name, in: .store(store))
    }

    var current: StoredKey<String> { key("current") }
    var ended: StoredKey<LogoutReason> { key("ended") }
    func session(_ id: String) -> StoredKey<Session> { key("session/" + AccountKey.encode(id)) }
    func password(_ id: String) -> StoredKey<String> { key("password/" + AccountKey.encode(id)) }
    /// Who is refreshing the tokens.
    func turn(_ id: String) -> StoredKey<RefreshTurn> { key("turn/" + AccountKey.encode(id)) }
    /// Fields of a profile that the preferences do not have yet.
    func owed(_ id: String) -> StoredKey<[String: StoredValue]> { key("owed/" + AccountKey.encode(id)) }
    /// That the preferences have to let go of an account's profile.
    func leaving(_ id: String) -> StoredKey<Bool> { key("leaving/" + AccountKey.encode(id)) }

    /// A login that an older program kept as user name and password: for the next automatic login, while nobody is logged in.
    var waiting: StoredKey<WaitingLogin> { key("waiting") }
    /// The source that the account was taken from, from then until the plain copy there is gone.
    func migrated(_ id: String) -> StoredKey<String> { key("migrated/" + AccountKey.encode(id)) }

    /// The ids of accounts that have a session.
    func accountIDs() throws(VaultError) -> [String] {
        try ids(under: "session/")
    }

    /// The ids of accounts for which the preferences owe something.
    func debtors() throws(VaultError) -> [String] {
        try ids(under: "owed/") + ids(under: "leaving/")
    }

    /// The ids of accounts whose plain copy is not known to be removed.
    func migratedIDs() throws(VaultError) -> [String] {
        try ids(under: "migrated/")
    }

    private func ids(under prefix: String) throws(VaultError) -> [String] {
        try store.keys(prefix: prefix).map {
            AccountKey.decode(String(decoding: $0.utf8.dropFirst(prefix.utf8.count), as: UTF8.self))
        }
    }

    /// The session of the current account; if nobody is logged in, the reason.
    func present() throws(VaultError) -> (session: Session?, ended: LogoutReason?) {
        var looks = 0
        while true {
            let id = try current.read()
            let session: Session? = if let id { try self.session(id).read() } else { nil }
            let reason = session == nil ? try ended.read() : nil
            looks += 1
            // If there was a login or a logout between these reads, they belong to different times.
            let isWhole = try current.read() == id && (id == nil || session != nil)
            if isWhole || looks == 10 { return (session, reason) }
        }
    }
}

extension AccountVault {
    /// Makes changes in one commit.
    func commit(_ body: (inout StoreTransaction) throws(VaultError) -> Void) throws(VaultError) {
        try store.commit(body)
    }
}

extension ValueStore {
    /// Makes changes in one commit, with the error's type.
    func commit(_ body: (inout StoreTransaction) throws(VaultError) -> Void) throws(VaultError) {
        do { try atomically(body) } catch let error as VaultError { throw error } catch {
            // `atomically` throws what `body` throws.
            throw VaultError(.unavailable, "The store could not be changed.")
        }
    }
}
