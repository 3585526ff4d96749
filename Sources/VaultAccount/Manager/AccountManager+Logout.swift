import Synchronization
import Vault

extension AccountManager {
    /// Logs out the account that ``state`` shows: its tokens, a kept password and the profile go, and the vault is compacted, so that the
    /// file no longer holds them. A password that ``migrate(from:)`` has found for a login to come goes too.
    ///
    /// If another process has made another account the current one, that one stays, and ``state`` shows it then.
    ///
    /// File systems, SSDs and backups may keep what the file held: a server's own logout ends the tokens themselves.
    ///
    /// - Throws: ``AccountError/store(_:)``. If ``state`` still shows the account then, nothing was changed; if not, only what follows the
    ///   logout failed, and is made good at the next start.
    public func logout() throws(AccountError) {
        guard let id = try knownAccount() else { return try removeWaitingLogin() }
        try end(.byUser, of: id)
    }

    /// Takes note that the server has ended the session of the account that ``state`` shows, as an app learns of it while it talks to the
    /// server.
    ///
    /// Tokens and a kept password go, as with ``logout()``; the profile stays for the next login.
    ///
    /// - Throws: as ``logout()``.
    public func kicked() throws(AccountError) {
        guard let id = try knownAccount() else { return }
        try end(.kicked, of: id)
    }

    /// The id of the account that is shown, logged in or too long ago; nil if nobody is.
    private func knownAccount() throws(AccountError) -> String? {
        switch core.withLock({ $0.known }) {
        case .nothing, .failed: reload()
        case .session, .ended: break
        }
        switch core.withLock({ $0.known }) {
        case .session(let session): return session.accountID
        case .failed(let error): throw .store(error)
        case .nothing, .ended: return nil
        }
    }

    /// Ends the session of an account, whether it is still the current one or not.
    ///
    /// - Parameter tokens: only if it still has these.
    /// - Returns: false if it has others, or if there is none.
    @discardableResult
    func end(_ reason: LogoutReason, of id: String, if tokens: Tokens? = nil) throws(AccountError) -> Bool {
        var isEnded = false
        do throws(VaultError) {
            let vault = try vault()
            try vault.commit { (transaction) throws(VaultError) in
                isEnded = try vault.end(id, reason, if: tokens, &transaction)
            }
            reload()
            guard isEnded else { return false }
            try settle()
            try vault.store.eraseRemoved()
        } catch {
            reload()
            throw .store(error)
        }
        return true
    }

    private func removeWaitingLogin() throws(AccountError) {
        do throws(VaultError) {
            let vault = try vault()
            if try vault.waiting.read() != nil { try vault.waiting.remove() }
            try settle()
            try vault.store.eraseRemoved()
            reload()
        } catch {
            reload()
            throw .store(error)
        }
    }
}

extension AccountVault {
    /// All of a logout, in the transaction.
    ///
    /// - Returns: false if the account has other tokens than those given.
    fileprivate func end(
        _ id: String, _ reason: LogoutReason, if tokens: Tokens?, _ transaction: inout StoreTransaction
    ) throws(VaultError) -> Bool {
        if let tokens, try transaction.read(session(id))?.tokens != tokens { return false }
        try transaction.remove(session(id))
        try transaction.remove(password(id))
        try transaction.remove(turn(id))
        try transaction.remove(owed(id))
        if reason == .byUser {
            // Who did not mean to leave finds what only this machine knows again.
            try transaction.write(true, to: leaving(id))
            try transaction.remove(waiting)
        }
        guard try transaction.read(current) == id else { return true }
        try transaction.remove(current)
        try transaction.write(reason, to: ended)
        return true
    }
}
