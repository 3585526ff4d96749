import FoundationEssentials
import Vault

extension AccountStorage {
    /// Migrates a source's account as a login at the time `now`, and removes the plain copy last.
    func migrate(from source: AccountSource, at now: Date, keepsPassword: Bool) throws -> AccountMigration {
        guard let (account, removeCopy) = try source.account() else {
            // An interrupted migration may have left the source's mark. If removing it fails, the next one tries again.
            try? forget(source)
            return AccountMigration(outcome: .nothingFound, accountID: nil, profileFields: [])
        }
        // Pending fields of a login or a logout must not mix with the migrated fields.
        try finishPendingWork()
        let vault = try vault()
        let preferences = try preferences()
        let outcome = try vault.store.atomically { transaction in
            // An account that the vault contains, or contained, takes precedence. Otherwise, a copy that could not be
            // removed would restore a login after a logout.
            guard try transaction.read(vault.session(account.id)) == nil,
                try transaction.read(vault.migrated(account.id)) == nil
            else { return AccountMigration.Outcome.alreadyKnown }
            // The fields are written here, although they also become pending. If they cannot be stored, the migration
            // must fail before it changes the vault.
            try Profile.checkNames(account.fields.keys)
            let change = ProfileChange(fields: account.fields)
            if !account.fields.isEmpty { try preferences.write(Profile.plain(change), of: account.id) }
            try transaction.write(Profile.plain(change), to: vault.pendingChange(account.id))
            try vault.change(Profile.secret(change), of: account.id, &transaction)
            return try vault.take(account, from: source.name, at: now, keepsPassword, &transaction)
        }
        try finishPendingWork()
        // A user name that is already stored comes from a newer login, in this version, so it stays.
        if try preferences.lastUserName.read() == nil { try preferences.lastUserName.write(account.userName) }
        try preferences.makeDurable()
        // A known account is flushed too, because an earlier migration may have been killed before its flush.
        try vault.store.makeDurable()
        try removeCopy()
        try forget(source)
        return AccountMigration(
            outcome: outcome, accountID: account.id,
            profileFields: outcome == .alreadyKnown ? [] : account.fields.keys.sorted())
    }

    /// Removes a migrated source's mark. Its plain copy has been removed, so a later copy there is a new account.
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
        // A person who has logged in with this version stays logged in, and can switch to the older account.
        if try transaction.read(current) == nil {
            try transaction.write(account.id, to: current)
            try transaction.remove(ended)
            try transaction.remove(waiting)
        }
        return .tokensKept
    }

    /// Keeps the password of a migrated account that has no token, for the next automatic login. If someone is logged
    /// in with the same user name, keeps the password for that account instead.
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
