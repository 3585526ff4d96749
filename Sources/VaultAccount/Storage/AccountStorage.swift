import FoundationEssentials
import Vault

/// The accounts' stores, which are opened at each use, since the vault may be locked at times.
struct AccountStorage<Profile: AccountProfile>: Sendable {
    let keychain: StoreReference
    let plain: StoreReference

    func vault() throws(VaultError) -> AccountVault { AccountVault(try keychain.store()) }
    func preferences() throws(VaultError) -> AccountPreferences { AccountPreferences(try plain.store()) }

    /// Stores a login. The plain fields of its profile are pending until they are in the preferences.
    ///
    /// - Parameter former: the session that this login renews automatically; nil if a person logs in. Nothing is
    ///   changed if that session has ended or been renewed in the meantime.
    func logIn(_ session: Session, _ profile: Profile?, password: String?, renewing former: Session? = nil) throws {
        // If the preferences cannot be read now, fields that this profile no longer has are removed at a later login.
        let known = (try? fields(of: session.accountID)) ?? [:]
        let change = try profile?.change(from: known) ?? ProfileChange()
        var plain = Profile.plain(change)
        // Another version of the app may have stored the secret fields unencrypted, so any plain copy is removed.
        if profile != nil { plain.cleared.formUnion(Profile.secretFields) }
        try vault().logIn(session, plain, Profile.secret(change), password: password, renewing: former)
        try finishPendingWork()
    }

    /// Stores a profile that the server sent, unless the session has ended.
    ///
    /// - Parameter baseline: the fields at the time of the request. A field that has changed since then is kept.
    func keep(_ profile: Profile, since baseline: [String: StoredValue], of session: Session) throws {
        let change = try profile.change(since: baseline)
        guard !change.isEmpty else { return }
        try finishPendingWork(for: session.accountID)
        try vault().keep(Profile.plain(change), Profile.secret(change), of: session)
        try finishPendingWork(for: session.accountID)
    }

    func update(_ id: String, _ body: (inout Profile) throws -> Void) throws {
        // Write any pending change of the account first, because it is older than this change.
        try finishPendingWork(for: id)
        let vault = try vault()
        let secrets = try Profile.secretFields.isEmpty ? [:] : vault.secrets(id).read() ?? [:]
        let change = try preferences().update(id, adding: secrets, body)
        if !change.isEmpty { try vault.change(change, of: id) }
    }

    func finishLogout() throws {
        try finishPendingWork()
        try vault().store.eraseRemoved()
    }

    /// Reports a store's error that does not affect who is logged in.
    func report(_ error: any Error) {
        if let error = error as? VaultError { (try? plain.store().failures)?.report(error, key: "account") }
    }

    /// Runs `body` while holding the account's lock, which excludes all other managers, even in other processes. A lock
    /// on a server can be lost while `body` runs, so `body` checks the lock before each step that needs it.
    func exclusively<Result>(_ id: String, _ body: (borrowing NameLock) async throws -> Result) async throws -> Result {
        let vault = try await blocking { try self.vault() }
        // The lock is released when `lock` is destroyed.
        let lock = try await vault.acquireLock(id)
        return try await body(lock)
    }

    func upToDateFields(of id: String) throws -> [String: StoredValue] {
        try finishPendingWork(for: id)
        return try fields(of: id)
    }

    private func fields(of id: String) throws(VaultError) -> [String: StoredValue] {
        try fields(of: id, vault().heldProfile(of: id))
    }

    /// Returns the fields of a profile as they will be once its pending changes are in the preferences.
    func fields(of id: String, _ held: HeldProfile) throws(VaultError) -> [String: StoredValue] {
        let plain = held.isLeaving ? [:] : try preferences().fields(of: id)
        return (held.pending?.applied(to: plain) ?? plain).merging(held.secrets) { $1 }
    }
}
