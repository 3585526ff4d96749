import FoundationEssentials
import Vault

extension AccountVault {
    /// Makes the session's account the current one. The change to its plain fields becomes pending.
    ///
    /// - Parameter former: the session that this one renews; which account is current stays as it is. Nothing is
    ///   changed if it has other tokens by now.
    func logIn(
        _ session: Session, _ plain: ProfileChange, _ secret: ProfileChange, password: String?,
        renewing former: Session?
    ) throws(VaultError) {
        let id = session.accountID
        try store.atomically { (transaction) throws(VaultError) in
            if let former {
                let present = try transaction.read(self.session(former.accountID))
                guard present?.tokens == former.tokens else { return }
            }
            try transaction.write(session, to: self.session(id))
            if former?.accountID != id {
                try transaction.write(id, to: current)
                try transaction.remove(ended)
                try transaction.remove(waiting)
            }
            try transaction.write(plain, to: pendingChange(id))
            try change(secret, of: id, &transaction)
            try transaction.remove(self.password(id))
            if let password { try transaction.write(password, to: self.password(id)) }
        }
    }

    /// - Returns: false, and nothing is changed, if the account has other tokens than those given.
    func logOut(_ id: String, _ reason: LogoutReason, if tokens: AccountTokens?) throws(VaultError) -> Bool {
        try store.atomically { (transaction) throws(VaultError) in
            if let tokens, try transaction.read(session(id))?.tokens != tokens { return false }
            try transaction.remove(session(id))
            try transaction.remove(password(id))
            try transaction.remove(pendingChange(id))
            if reason == .byUser {
                // In all other cases the profile stays: it may hold what only this machine knows.
                try transaction.write(true, to: pendingRemoval(id))
                try transaction.remove(secrets(id))
                try transaction.remove(waiting)
            }
            guard try transaction.read(current) == id else { return true }
            try transaction.remove(current)
            try transaction.write(reason, to: ended)
            return true
        }
    }

    /// Changes the session, unless it has other tokens by now: newer ones of another process stay, and a logout stays.
    /// The account need not be the current one.
    func change(_ session: Session, _ body: (inout Session) -> Void) throws(VaultError) {
        let key = self.session(session.accountID)
        try store.atomically { (transaction) throws(VaultError) in
            guard var stored = try transaction.read(key), stored.tokens == session.tokens else { return }
            body(&stored)
            try transaction.write(stored, to: key)
        }
    }

    /// Stores a change to the profile, unless the session has ended.
    func keep(_ plain: ProfileChange, _ secret: ProfileChange, of session: Session) throws(VaultError) {
        let id = session.accountID
        try store.atomically { (transaction) throws(VaultError) in
            // Not the tokens, which may have been refreshed: another time means another login.
            guard try transaction.read(self.session(id))?.loggedInAt == session.loggedInAt else { return }
            // Pending first: a logout in another process then finds that there is something to remove.
            if !plain.isEmpty { try transaction.write(plain, to: pendingChange(id)) }
            try change(secret, of: id, &transaction)
        }
    }

    /// Changes the secret fields of a profile.
    func change(_ secret: ProfileChange, of id: String) throws(VaultError) {
        try store.atomically { (transaction) throws(VaultError) in try change(secret, of: id, &transaction) }
    }

    func change(
        _ secret: ProfileChange, of id: String, _ transaction: inout ValueTransaction
    ) throws(VaultError) {
        guard !secret.isEmpty else { return }
        let fields = secret.applied(to: try transaction.read(secrets(id)) ?? [:])
        if fields.isEmpty {
            try transaction.remove(secrets(id))
        } else {
            try transaction.write(fields, to: secrets(id))
        }
    }

    func removeWaiting() throws(VaultError) { if try waiting.read() != nil { try waiting.remove() } }

    /// Drops a waiting login that the server has rejected.
    func giveUp(_ login: WaitingLogin) throws(VaultError) {
        try store.atomically { (transaction) throws(VaultError) in
            guard try transaction.read(waiting) == login else { return }
            try transaction.remove(waiting)
            if try transaction.read(current) == nil { try transaction.write(.rejected, to: ended) }
        }
    }
}
