import FoundationEssentials
import Vault

extension AccountManager {
    /// Takes over an account that older code kept in plain form, once; call it before ``autoLogin()``.
    ///
    /// Tokens and the password go into the vault, all else into the profile, and the plain copy is removed last, when everything lies in its
    /// place durably. So a crash at any point loses nothing, and the next call finishes it. If it throws, the plain copy is still there, or
    /// the account is wholly in the vault.
    ///
    /// With a token the person is logged in, as of now. With a user name and a password alone, the vault keeps the password until
    /// ``autoLogin()`` has logged in with it, or the server has rejected it; after that only if ``Options/keepsPassword`` says so. What the
    /// vault has already is never overwritten: who is logged in stays so, and a plain copy of an account that it knows just goes.
    ///
    /// - Returns: what was done; nothing secret.
    /// - Throws: ``AccountError/store(_:)`` with `damaged` for a file that is neither a property list nor JSON, `wrongType` for a secret
    ///   or a name that is no string, `invalid` for secrets without id and user name or a field that the preferences cannot hold: then nothing
    ///   was changed; `busy` if the plain copy was changed meanwhile; and what the stores throw.
    @discardableResult
    public func migrate(from source: AccountSource) throws(AccountError) -> AccountMigration {
        do throws(VaultError) {
            let report = try takeOver(source)
            reload()
            return report
        } catch {
            // Memory follows what the vault has.
            reload()
            throw .store(error)
        }
    }

    private func takeOver(_ source: AccountSource) throws(VaultError) -> AccountMigration {
        switch source.place {
        case .file(let open):
            guard let file = try open() else { return nothing(in: source) }
            return try takeOver(file.values, from: source) { () throws(VaultError) in try file.remove() }
        case .preferences(let store):
            let keys = try PlainKeys(source.names, in: store)
            return try takeOver(keys.values, from: source, onlyNamed: true, keys.remove)
        }
    }

    /// - Parameter remove: removes the plain copy.
    private func takeOver(
        _ values: [String: StoredValue], from source: AccountSource, onlyNamed: Bool = false,
        _ remove: () throws(VaultError) -> Void
    ) throws(VaultError) -> AccountMigration {
        guard let account = try PlainAccount(values, source.names, keepingFields: !onlyNamed) else {
            return nothing(in: source)
        }
        // What a login or a logout still owes must not meet what comes now.
        try settle()
        let outcome = try keep(account, from: source)
        try settle()
        try keepUserName(account.userName)
        // Also where the account is known: a migration that was killed may have left it unflushed.
        try vault().store.makeDurable()
        try remove()
        try forget(source)
        return AccountMigration(
            outcome: outcome, accountID: account.id,
            profileFields: outcome == .alreadyKnown ? [] : account.fields.keys.sorted())
    }

    private func keep(
        _ account: PlainAccount, from source: AccountSource
    ) throws(VaultError) -> AccountMigration.Outcome {
        let vault = try vault()
        var outcome = AccountMigration.Outcome.alreadyKnown
        try vault.commit { (transaction) throws(VaultError) in
            outcome = .alreadyKnown
            guard try !vault.knows(account.id, &transaction) else { return }
            // Now, although the vault will owe them: those that cannot be stored are an error while all is as it was.
            if !account.fields.isEmpty { try preferences().write(account.fields, of: account.id) }
            outcome = try vault.take(
                account, from: source.name, at: options.now(), keepsPassword: options.keepsPassword, &transaction)
        }
        return outcome
    }

    /// A name that was logged in with in this version is the later one.
    private func keepUserName(_ userName: String) throws(VaultError) {
        let preferences = try preferences()
        if try preferences.lastUserName.read() == nil { try preferences.lastUserName.write(userName) }
        try preferences.makeDurable()
    }

    /// What a migration that was cut off may have left to do when the plain copy is gone; the next one does it if this fails.
    private func nothing(in source: AccountSource) -> AccountMigration {
        try? forget(source)
        return AccountMigration(outcome: .nothingFound, accountID: nil, profileFields: [])
    }

    /// The plain copy is gone: one that comes is a new one.
    private func forget(_ source: AccountSource) throws(VaultError) {
        let vault = try vault()
        for id in try vault.migratedIDs() where try vault.migrated(id).read() == source.name {
            try vault.migrated(id).remove()
        }
    }
}
