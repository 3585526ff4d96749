import FoundationEssentials
import Vault

extension AccountStorage {
    /// Moves a source's account into the vault, as a login made at the time `now`. Removes the plain copy last.
    func migrate(from source: AccountSource, at now: Date, keepsPassword: Bool) throws -> AccountMigration {
        guard let (account, removeCopy) = try source.account() else {
            // An interrupted migration may have left the source's mark. If its removal fails, the next call retries.
            try? forget(source)
            return AccountMigration(outcome: .nothingFound, accountID: nil, profileFields: [])
        }
        // A pending login or logout is finished first, so that its fields do not mix with the migrated ones.
        try finishPendingWork()
        let vault = try vault()
        let preferences = try preferences()
        let outcome = try vault.store.atomically { transaction in
            // An account that the vault contains, or has contained, is not migrated. Otherwise, a plain copy that could
            // not be removed would restore a login after a logout.
            guard try transaction.read(vault.session(account.id)) == nil,
                try transaction.read(vault.migrated(account.id)) == nil
            else { return AccountMigration.Outcome.alreadyKnown }
            // Writes the fields to the preferences now, although the pending change contains them too. If they cannot
            // be stored there, the migration must fail before it changes the vault.
            try Profile.checkNames(account.fields.keys)
            let change = ProfileChange(fields: account.fields)
            if !account.fields.isEmpty { try preferences.write(Profile.plain(change), of: account.id) }
            try transaction.write(Profile.plain(change), to: vault.pendingChange(account.id))
            try vault.change(Profile.secret(change), of: account.id, &transaction)
            return try vault.take(account, from: source.name, at: now, keepsPassword, &transaction)
        }
        try finishPendingWork()
        // A user name that is already stored is kept, because it comes from a newer login with this version.
        if try preferences.lastUserName.read() == nil { try preferences.lastUserName.write(account.userName) }
        try preferences.makeDurable()
        // The vault is flushed for a known account too: an earlier migration may have been killed before its flush.
        try vault.store.makeDurable()
        try removeCopy()
        try forget(source)
        return AccountMigration(
            outcome: outcome, accountID: account.id,
            profileFields: outcome == .alreadyKnown ? [] : account.fields.keys.sorted())
    }

    /// Removes a source's mark as migrated. Its plain copy is gone, so an account found there later is a new one.
    private func forget(_ source: AccountSource) throws {
        let vault = try vault()
        for id in try vault.migratedIDs() where try vault.migrated(id).read() == source.name {
            try vault.migrated(id).remove()
        }
    }
}

extension AccountVault {
    fileprivate func take(
        _ account: PlainAccount, from source: String, at now: Date, _ keepsPassword: Bool,
        _ transaction: inout ValueTransaction
    ) throws -> AccountMigration.Outcome {
        try transaction.remove(pendingRemoval(account.id))
        try transaction.write(source, to: migrated(account.id))
        guard let tokens = account.tokens else {
            guard let password = account.password else { return .fieldsKept }
            return try keep(WaitingLogin(userName: account.userName, password: password), keepsPassword, &transaction)
        }
        let session = Session(accountID: account.id, userName: account.userName, tokens: tokens, loggedInAt: now)
        try transaction.write(session, to: self.session(account.id))
        if keepsPassword {
            // If this source has no password, the password from an earlier source for the same user name is kept.
            let waited = try transaction.read(waiting).flatMap { $0.userName == account.userName ? $0.password : nil }
            if let kept = account.password ?? waited { try transaction.write(kept, to: password(account.id)) }
        }
        // An account that is already current stays current. The person can switch to the migrated account.
        if try transaction.read(current) == nil {
            try transaction.write(account.id, to: current)
            try transaction.remove(ended)
            try transaction.remove(waiting)
        }
        return .tokensKept
    }

    /// Keeps the password of a migrated account without a token: for the next automatic login if no account is current
    /// and no other login waits, or, if `keepsPassword`, for a current account of that user name without a password.
    private func keep(
        _ login: WaitingLogin, _ keepsPassword: Bool, _ transaction: inout ValueTransaction
    ) throws -> AccountMigration.Outcome {
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
