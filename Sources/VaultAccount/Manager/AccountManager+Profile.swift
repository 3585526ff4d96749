import Vault

extension AccountManager {
    /// Changes the profile of who is logged in. Only fields that come out otherwise are written; fields of other versions of the
    /// app stay.
    ///
    /// `body` may run more than once.
    ///
    /// - Throws: what `body` throws; ``AccountError``: `notLoggedIn`, `expired`; `store`, with `absent` if there is no profile.
    public func updateProfile(_ body: (inout Profile) throws -> Void) throws {
        let id = try currentSession().accountID
        do {
            // What a login still owes is older than this change.
            try settle(id)
            _ = try preferences().update(id, body)
        } catch let error as VaultError { throw AccountError.store(error) }
        reload()
    }

    /// Sets one field of the profile of who is logged in.
    ///
    /// - Throws: as ``updateProfile(_:)``.
    public func update<Field>(_ field: WritableKeyPath<Profile, Field>, to value: Field) throws {
        try updateProfile { $0[keyPath: field] = value }
    }

    /// Changes one field of the profile of who is logged in.
    ///
    /// - Throws: as ``updateProfile(_:)``.
    public func update<Field>(_ field: WritableKeyPath<Profile, Field>, _ body: (inout Field) throws -> Void) throws {
        try updateProfile { try body(&$0[keyPath: field]) }
    }
}
