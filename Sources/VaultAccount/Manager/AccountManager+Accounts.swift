import Vault

extension AccountManager {
    /// Returns the ids of the accounts that have a login here, the current one among them.
    ///
    /// - Throws: ``AccountError/store(_:)``.
    public func accountIDs() throws(AccountError) -> [String] { try stored(storage.vault().accountIDs()) }

    /// Makes another account the current one. Each account has its own tokens and profile.
    ///
    /// - Returns: the state afterwards.
    /// - Throws: ``AccountError``: `notLoggedIn` if that account has no login here; `store`.
    @discardableResult
    public func switchAccount(to id: String) throws(AccountError) -> State {
        guard try stored(storage.vault().switchAccount(to: id)) else { throw .notLoggedIn(.never) }
        return reload()
    }

    /// Updates the current account's profile. Only changed fields are written. `body` may run more than once. If it
    /// changes ``AccountProfile/secretFields`` as well as others, a crash may leave only the others changed.
    ///
    /// - Throws: ``AccountError``: `notLoggedIn`, `expired`, `store` (`absent` without a profile); what `body` throws.
    public func updateProfile(_ body: (inout Profile) throws -> Void) throws {
        let id = try currentSession().accountID
        do { try storage.update(id, body) } catch let error as VaultError { throw AccountError.store(error) }
        load()
    }

    /// Sets one field of the current account's profile.
    ///
    /// - Throws: ``AccountError``, as ``updateProfile(_:)``.
    public func update<Field>(_ field: WritableKeyPath<Profile, Field>, to value: Field) throws {
        try updateProfile { $0[keyPath: field] = value }
    }

    /// Updates one field of the current account's profile.
    ///
    /// - Throws: as ``updateProfile(_:)``: ``AccountError`` and what `body` throws.
    public func update<Field>(_ field: WritableKeyPath<Profile, Field>, _ body: (inout Field) throws -> Void) throws {
        try updateProfile { try body(&$0[keyPath: field]) }
    }

    /// Takes over an account that older code kept in plain form, once. Call it before ``autoLogin()``.
    ///
    /// <doc:Migrating> tells what is stored where. A crash at any point loses nothing; the next call finishes the work.
    ///
    /// - Returns: what was done; nothing secret.
    /// - Throws: ``AccountError/store(_:)``. Nothing was changed for `damaged`: a file that cannot be imported;
    ///   `wrongType`: a secret or a name that is not a string; `invalid`: secrets without id and user name, a field
    ///   that the preferences cannot hold, or one that is named like a secret. Also `busy` if the plain copy changed
    ///   meanwhile, and what the stores throw.
    @discardableResult
    public func migrate(from source: AccountSource) throws(AccountError) -> AccountMigration {
        try change(storage.migrate(from: source, at: options.clock.now(), keepsPassword: options.keepsPassword))
    }
}
