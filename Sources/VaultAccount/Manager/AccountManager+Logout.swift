import Synchronization
import Vault

extension AccountManager {
    /// Logs the person out: tokens, a kept password and the profile go, and the vault is compacted, so that the file no longer holds them.
    ///
    /// File systems, SSDs and backups may keep what the file held: a server's own logout ends the tokens themselves.
    ///
    /// - Throws: ``AccountError/store(_:)``. If the state is still logged in then, nothing was changed; if it is logged out, only what
    ///   follows the logout failed, and is made good at the next start.
    public func logout() throws(AccountError) {
        try end(.byUser)
    }

    /// Takes note that the server has ended the session, as an app learns of it while it talks to the server.
    ///
    /// Tokens and a kept password go, as with ``logout()``; the profile stays for the next login.
    ///
    /// - Throws: as ``logout()``.
    public func kicked() throws(AccountError) {
        try end(.kicked)
    }

    /// Ends the current session.
    ///
    /// - Parameter tokens: only if it still has these.
    func end(_ reason: LogoutReason, if tokens: Tokens? = nil) throws(AccountError) {
        do throws(VaultError) {
            let vault = try vault()
            try vault.commit { (transaction) throws(VaultError) in
                guard let id = try transaction.read(vault.current) else {
                    if tokens == nil, try transaction.read(vault.waiting) != nil {
                        try transaction.remove(vault.waiting)
                    }
                    return
                }
                if let tokens, try transaction.read(vault.session(id))?.tokens != tokens { return }
                try transaction.remove(vault.session(id))
                try transaction.remove(vault.password(id))
                try transaction.remove(vault.turn(id))
                try transaction.remove(vault.owed(id))
                try transaction.remove(vault.current)
                try transaction.write(reason, to: vault.ended)
                // Who did not mean to leave finds what only this machine knows again.
                if reason == .byUser { try transaction.write(true, to: vault.leaving(id)) }
            }
            reload()
            try settle()
            try vault.store.eraseRemoved()
        } catch {
            reload()
            throw .store(error)
        }
    }
}
