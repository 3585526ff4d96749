import Vault

extension AccountManager {
    /// The ids of the accounts that have a login here, the current one among them.
    ///
    /// - Throws: ``AccountError/store(_:)``.
    public func accountIDs() throws(AccountError) -> [String] {
        do { return try vault().accountIDs() } catch { throw .store(error) }
    }

    /// Makes another account the current one. Each has its own tokens and profile; none sees another's.
    ///
    /// - Throws: ``AccountError``: `notLoggedIn` if that account has no login here; `store`.
    @discardableResult
    public func switchAccount(to id: String) throws(AccountError) -> State {
        var isThere = false
        do throws(VaultError) {
            let vault = try vault()
            try vault.commit { (transaction) throws(VaultError) in
                isThere = try transaction.read(vault.session(id)) != nil
                guard isThere else { return }
                try transaction.write(id, to: vault.current)
                try transaction.remove(vault.ended)
            }
        } catch { throw .store(error) }
        guard isThere else { throw .notLoggedIn(.never) }
        return reload()
    }
}
