import FoundationEssentials
import Vault

extension AccountVault {
    /// Whether the vault has had the account since before: then what it has, or has no longer, stands.
    func knows(_ id: String, _ transaction: inout StoreTransaction) throws(VaultError) -> Bool {
        if try transaction.read(session(id)) != nil { return true }
        // A copy that was taken and could not be removed must not come back after a logout.
        return try transaction.read(migrated(id)) != nil
    }

    /// Takes over an account, all of it in the transaction.
    func take(
        _ account: PlainAccount, from source: String, at now: Date, keepsPassword: Bool,
        _ transaction: inout StoreTransaction
    ) throws(VaultError) -> AccountMigration.Outcome {
        guard try !knows(account.id, &transaction) else { return .alreadyKnown }
        try transaction.write(account.fields, to: owed(account.id))
        try transaction.remove(leaving(account.id))
        try transaction.write(source, to: migrated(account.id))
        if let tokens = account.tokens {
            let session = Session(
                accountID: account.id, userName: account.userName, tokens: tokens, loggedInAt: now)
            try keep(session, account.password, keepsPassword, &transaction)
            return .tokensKept
        }
        guard let password = account.password else { return .fieldsKept }
        return try keep(
            WaitingLogin(userName: account.userName, password: password), keepsPassword, &transaction)
    }

    private func keep(
        _ session: Session, _ password: String?, _ keepsPassword: Bool, _ transaction: inout StoreTransaction
    ) throws(VaultError) {
        let id = session.accountID
        try transaction.write(session, to: self.session(id))
        if keepsPassword {
            // One that an earlier source had is the same person's.
            let waited = try transaction.read(waiting).flatMap { $0.userName == session.userName ? $0.password : nil }
            if let password = password ?? waited { try transaction.write(password, to: self.password(id)) }
        }
        // Who has logged in with this version stays; the older account can be switched to.
        guard try transaction.read(current) == nil else { return }
        try transaction.write(id, to: current)
        try transaction.remove(ended)
        try transaction.remove(waiting)
    }

    /// A password without a token is for a login, if nobody is logged in; else for the account of that name, if passwords are kept.
    private func keep(
        _ login: WaitingLogin, _ keepsPassword: Bool, _ transaction: inout StoreTransaction
    ) throws(VaultError) -> AccountMigration.Outcome {
        guard let id = try transaction.read(current) else {
            guard try transaction.read(waiting) == nil else { return .fieldsKept }
            try transaction.write(login, to: waiting)
            return .passwordKept
        }
        if keepsPassword, try transaction.read(password(id)) == nil,
            try transaction.read(session(id))?.userName == login.userName
        {
            try transaction.write(login.password, to: password(id))
        }
        return .fieldsKept
    }
}
