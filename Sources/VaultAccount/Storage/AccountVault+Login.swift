import FoundationEssentials
import Vault

extension AccountVault {
    /// Stores a session and makes its account current. Also stores `plain`, the change to the plain fields, as pending.
    ///
    /// - Parameter former: the session that `session` renews. If both have the same account id, the current account
    ///   does not change. If the tokens of `former` have been replaced in the meantime, nothing is changed.
    func logIn(
        _ session: Session, _ plain: ProfileChange, _ secret: ProfileChange, password: String?,
        renewing former: Session?
    ) throws {
        let id = session.accountID
        try store.atomically { transaction in
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

    /// Ends the session of an account. Returns false and changes nothing if the account's tokens are not `tokens`.
    func logOut(_ id: String, _ reason: LogoutReason, if tokens: AccountTokens?) throws -> Bool {
        try store.atomically { transaction in
            if let tokens, try transaction.read(session(id))?.tokens != tokens { return false }
            try transaction.remove(session(id))
            try transaction.remove(password(id))
            try transaction.remove(pendingChange(id))
            if reason == .byUser {
                // Only the user can decide to remove the profile: it may contain data that exists only on this machine.
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

    /// Changes a session of any account, unless it has ended or another process has replaced its tokens.
    func change(_ session: Session, _ body: (inout Session) -> Void) throws {
        let key = self.session(session.accountID)
        try store.atomically { transaction in
            guard var stored = try transaction.read(key), stored.tokens == session.tokens else { return }
            body(&stored)
            try transaction.write(stored, to: key)
        }
    }

    func keep(_ plain: ProfileChange, _ secret: ProfileChange, of session: Session) throws {
        let id = session.accountID
        try store.atomically { transaction in
            // A refresh replaces the tokens, so the session is recognized by the time of its login.
            guard try transaction.read(self.session(id))?.loggedInAt == session.loggedInAt else { return }
            // The change to the plain fields is pending in the vault, so that a logout in another process removes it.
            if !plain.isEmpty { try transaction.write(plain, to: pendingChange(id)) }
            try change(secret, of: id, &transaction)
        }
    }

    func change(_ secret: ProfileChange, of id: String) throws {
        try store.atomically { transaction in try change(secret, of: id, &transaction) }
    }

    func change(_ secret: ProfileChange, of id: String, _ transaction: inout ValueTransaction) throws {
        guard !secret.isEmpty else { return }
        let fields = secret.applied(to: try transaction.read(secrets(id)) ?? [:])
        if fields.isEmpty {
            try transaction.remove(secrets(id))
        } else {
            try transaction.write(fields, to: secrets(id))
        }
    }

    func removeWaiting() throws { if try waiting.read() != nil { try waiting.remove() } }

    /// Removes a stored login that was waiting to be tried, after the server has rejected it.
    func drop(_ login: WaitingLogin) throws {
        try store.atomically { transaction in
            guard try transaction.read(waiting) == login else { return }
            try transaction.remove(waiting)
            if try transaction.read(current) == nil { try transaction.write(.rejected, to: ended) }
        }
    }
}
