import FoundationEssentials
import Vault

/// Finds the stores of the accounts, anew at each use: the vault may be locked at times.
struct AccountStorage<Profile: AccountProfile>: Sendable {
    let keychain: StoreReference
    let plain: StoreReference

    func vault() throws(VaultError) -> AccountVault { AccountVault(try keychain.store()) }
    func preferences() throws(VaultError) -> AccountPreferences { AccountPreferences(try plain.store()) }

    /// Keeps a login. The plain fields of its profile are pending until the preferences have them.
    ///
    /// - Parameter former: the session that this one renews, if no person has asked for it: nothing is changed if it
    ///   has ended or was renewed meanwhile.
    func logIn(
        _ session: Session, _ profile: Profile?, password: String?, renewing former: Session? = nil
    ) throws(VaultError) {
        // If the preferences cannot be read now, a later answer of the server clears what this one would.
        let known = (try? fields(of: session.accountID)) ?? [:]
        let change = try profile?.change(from: known) ?? ProfileChange()
        var plain = Profile.plain(change)
        // What another version has stored in the clear.
        if profile != nil { plain.cleared.formUnion(Profile.secretFields) }
        try vault().logIn(session, plain, Profile.secret(change), password: password, renewing: former)
        try settle()
    }

    /// Stores a profile that the server sent, unless the session has ended.
    ///
    /// - Parameter asked: the fields when the server was asked: what was changed since is newer than its answer.
    func keep(_ profile: Profile, asked: [String: StoredValue], of session: Session) throws(VaultError) {
        let change = try profile.change(since: asked)
        guard !change.isEmpty else { return }
        try settle(session.accountID)
        try vault().keep(Profile.plain(change), Profile.secret(change), of: session)
        try settle(session.accountID)
    }

    /// Updates a stored profile. Only changed fields are written.
    func update(_ id: String, _ body: (inout Profile) throws -> Void) throws {
        // What a login left pending is older than this change.
        try settle(id)
        let vault = try vault()
        let secrets = try Profile.secretFields.isEmpty ? [:] : vault.secrets(id).read() ?? [:]
        let change = try preferences().update(id, adding: secrets, body)
        if !change.isEmpty { try vault.change(change, of: id) }
    }

    /// Does what is pending, and erases what was removed from the vault's file.
    func finishLogout() throws(VaultError) {
        try settle()
        try vault().store.eraseRemoved()
    }

    /// Reports an error that does not change who is logged in.
    func report(_ error: VaultError) { (try? plain.store().failures)?.report(error, key: "account") }

    /// Runs `body` while no other manager has the lock of the account, here or in another process. The lock of a server
    /// can be lost meanwhile: whatever it guards checks it first.
    func exclusively<Result>(
        _ id: String, _ body: (borrowing NameLock) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        let lock: NameLock
        do throws(VaultError) {
            let vault = try await blocking { () throws(VaultError) in try self.vault() }
            lock = try await vault.acquireLock(id)
        } catch { throw .store(error) }
        do {
            let result = try await body(lock)
            lock.release()
            return result
        } catch {
            lock.release()
            throw error
        }
    }
}

// MARK: - The fields of profiles

extension AccountStorage {
    /// Returns the fields of a profile, after what was pending.
    func settledFields(of id: String) throws(VaultError) -> [String: StoredValue] {
        try settle(id)
        return try fields(of: id)
    }

    private func fields(of id: String) throws(VaultError) -> [String: StoredValue] {
        try fields(of: id, vault().heldProfile(of: id))
    }

    /// Returns the fields of a profile as they will be when nothing is pending.
    func fields(of id: String, _ held: HeldProfile) throws(VaultError) -> [String: StoredValue] {
        let plain = held.isLeaving ? [:] : try preferences().fields(of: id)
        return (held.pending?.applied(to: plain) ?? plain).merging(held.secrets) { $1 }
    }
}
