import FoundationEssentials
import Vault

extension AccountStorage {
    /// Takes over the account of a source, as of `now`, and removes the plain copy last.
    func migrate(from source: AccountSource, at now: Date, keepsPassword: Bool) throws(VaultError) -> AccountMigration {
        switch source.location {
        case .file(let open):
            guard let file = try open() else { return nothing(in: source) }
            let account = try PlainAccount(file.values, source.names, keepingFields: true)
            return try take(account, from: source, at: now, keepsPassword) { () throws(VaultError) in
                try file.remove()
            }
        case .preferences(let store):
            var values: [String: StoredValue] = [:]
            for name in source.names.all { values[name] = try store.value(of: name) }
            let account = try PlainAccount(values, source.names, keepingFields: false)
            return try take(account, from: source, at: now, keepsPassword) { () throws(VaultError) in
                try store.remove(values)
            }
        }
    }

    private func take(
        _ account: PlainAccount?, from source: AccountSource, at now: Date, _ keepsPassword: Bool,
        _ removeCopy: () throws(VaultError) -> Void
    ) throws(VaultError) -> AccountMigration {
        guard let account else { return nothing(in: source) }
        // What is pending from a login or a logout must not mix with the migrated fields.
        try settle()
        let (vault, preferences) = (try vault(), try preferences())
        let outcome = try vault.store.atomically { (transaction) throws(VaultError) in
            guard try !vault.knows(account.id, &transaction) else { return AccountMigration.Outcome.alreadyKnown }
            // Although they will be pending: fields that cannot be stored must fail before anything is changed.
            if !account.fields.isEmpty { try preferences.write(account.fields, of: account.id) }
            return try vault.take(account, from: source.name, at: now, keepsPassword, &transaction)
        }
        try settle()
        // A user name of a login in this version is the later one.
        if try preferences.lastUserName.read() == nil { try preferences.lastUserName.write(account.userName) }
        try preferences.makeDurable()
        // Also if the account is known: an earlier migration may have been killed before it was flushed.
        try vault.store.makeDurable()
        try removeCopy()
        try forget(source)
        return AccountMigration(
            outcome: outcome, accountID: account.id,
            profileFields: outcome == .alreadyKnown ? [] : account.fields.keys.sorted())
    }

    /// Finishes a migration that was interrupted after it removed the plain copy. If that fails, the next one does it.
    private func nothing(in source: AccountSource) -> AccountMigration {
        try? forget(source)
        return AccountMigration(outcome: .nothingFound, accountID: nil, profileFields: [])
    }

    /// Forgets that the source was migrated: its plain copy is removed, so a later one is a new account.
    private func forget(_ source: AccountSource) throws(VaultError) {
        let vault = try vault()
        for id in try vault.migratedIDs() where try vault.migrated(id).read() == source.name {
            try vault.migrated(id).remove()
        }
    }
}

extension ValueStore {
    /// Removes values durably, unless another process changed one. If it removed them all, there is nothing left to do.
    ///
    /// - Throws: ``VaultError`` with `busy` if one was changed.
    fileprivate func remove(_ values: [String: StoredValue]) throws(VaultError) {
        let removals = values.mapValues { _ in StoredValue?.none }
        if try !commit(StoreBatch(removals, expecting: values.mapValues { $0 })) {
            for name in values.keys where try value(of: name) != nil {
                throw VaultError(.busy, "The older account changed during the migration. Migrate it again.")
            }
        }
        try makeDurable()
    }
}

extension AccountVault {
    /// Tells whether the vault has or had the account: then the plain copy changes nothing.
    fileprivate func knows(_ id: String, _ transaction: inout StoreTransaction) throws(VaultError) -> Bool {
        if try transaction.read(session(id)) != nil { return true }
        // A copy that was taken and could not be removed must not come back after a logout.
        return try transaction.read(migrated(id)) != nil
    }

    fileprivate func take(
        _ account: PlainAccount, from source: String, at now: Date, _ keepsPassword: Bool,
        _ transaction: inout StoreTransaction
    ) throws(VaultError) -> AccountMigration.Outcome {
        try transaction.write(account.fields, to: pendingFields(account.id))
        try transaction.remove(pendingRemoval(account.id))
        try transaction.write(source, to: migrated(account.id))
        if let tokens = account.tokens {
            let session = Session(accountID: account.id, userName: account.userName, tokens: tokens, loggedInAt: now)
            try keep(session, account.password, keepsPassword, &transaction)
            return .tokensKept
        }
        guard let password = account.password else { return .fieldsKept }
        return try keep(WaitingLogin(userName: account.userName, password: password), keepsPassword, &transaction)
    }

    private func keep(
        _ session: Session, _ password: String?, _ keepsPassword: Bool, _ transaction: inout StoreTransaction
    ) throws(VaultError) {
        let id = session.accountID
        try transaction.write(session, to: self.session(id))
        if keepsPassword {
            // An earlier source may have had the password of the same person.
            let waited = try transaction.read(waiting).flatMap { $0.userName == session.userName ? $0.password : nil }
            if let password = password ?? waited { try transaction.write(password, to: self.password(id)) }
        }
        // A person who has logged in with this version stays logged in; the older account can be switched to.
        guard try transaction.read(current) == nil else { return }
        try transaction.write(id, to: current)
        try transaction.remove(ended)
        try transaction.remove(waiting)
    }

    /// A password without a token waits for a login, unless someone is logged in: then it is kept for that user name.
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
