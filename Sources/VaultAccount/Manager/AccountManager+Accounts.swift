import Vault

extension AccountManager {
    /// Returns the ids of the accounts that are logged in on this machine, including the current one.
    ///
    /// - Throws: ``AccountError/store(_:)``.
    public func accountIDs() throws(AccountError) -> [String] { try reported { try storage.vault().accountIDs() } }

    /// Makes another account the current one. Each account has its own tokens and profile.
    ///
    /// - Returns: the state afterwards.
    /// - Throws: ``AccountError``: `notLoggedIn` if the account `id` is not logged in on this machine; `store`.
    @discardableResult
    public func switchAccount(to id: String) throws(AccountError) -> State {
        guard try reported({ try storage.vault().switchAccount(to: id) }) else { throw .notLoggedIn(.never) }
        return reload()
    }

    /// Updates the current account's profile. Only changed fields are written. `body` may run more than once. If `body`
    /// changes ``AccountProfile/secretFields`` as well as other fields, a crash may lose changes to the secret ones.
    ///
    /// - Throws: ``AccountError``: `notLoggedIn`, `expired`, `store` (`absent` if no profile exists); errors of `body`.
    public func updateProfile(_ body: (inout Profile) throws -> Void) throws {
        let id = try reported { try currentSession().accountID }
        do { try storage.update(id, body) } catch let error as VaultError { throw AccountError.store(error) }
        load()
    }

    /// Sets one field of the current account's profile.
    ///
    /// - Throws: ``AccountError``, as ``updateProfile(_:)`` does.
    public func update<Field>(_ field: WritableKeyPath<Profile, Field>, to value: Field) throws {
        try updateProfile { $0[keyPath: field] = value }
    }

    /// Updates one field of the current account's profile.
    ///
    /// - Throws: ``AccountError``, as ``updateProfile(_:)`` does; the errors of `body`.
    public func update<Field>(_ field: WritableKeyPath<Profile, Field>, _ body: (inout Field) throws -> Void) throws {
        try updateProfile { try body(&$0[keyPath: field]) }
    }

    /// Migrates an account that older code stored unencrypted. Call this before ``autoLogin()``.
    ///
    /// <doc:Migrating> explains where each part of the account is stored. If a call is interrupted, the next call
    /// finishes the migration.
    ///
    /// - Returns: the result, which contains no secret.
    /// - Throws: ``AccountError/store(_:)``. Nothing was changed if its code is `damaged` (the file cannot be
    ///   imported), `wrongType` (a secret or a name is not a string) or `invalid` (there are secrets but neither id nor
    ///   user name, a field cannot be stored in the preferences, or its name suggests a secret). The code is `busy` if
    ///   the plain copy has changed in the meantime. The stores' own errors are passed on.
    @discardableResult
    public func migrate(from source: AccountSource) throws(AccountError) -> AccountMigration {
        try reported {
            try change(storage.migrate(from: source, at: options.clock.now(), keepsPassword: options.keepsPassword))
        }
    }
}
