import SealedLog

/// A program's part of a vault: the entries whose names begin with `prefix`. Names in the keychain omit the prefix.
struct KeychainPart: Hashable, Sendable {
    let prefix: String
    /// Whether a name that has no entry in this part refers to the vault's entry with exactly that name, as stored by
    /// `vault set`. Setting the name leaves that entry alone. Removing the name removes both, so that no value remains.
    let showsOthers: Bool
}

extension Keychain {
    /// Returns the name under which the vault stores an entry of this keychain.
    func ownName(_ name: String) -> String { part.map { $0.prefix + name } ?? name }

    func checked(_ name: String) throws(VaultError) -> EntryName {
        guard !name.isEmpty, let own = EntryName(ownName(name)) else { throw Naming.name.refusal(of: name) }
        return own
    }

    /// Returns the name under which the vault stores the entry to which `name` refers in this keychain.
    func shownName(_ name: String) throws(VaultError) -> String {
        guard let part else {
            try Naming.name.check(name)
            return name
        }
        let own = try checked(name)
        guard part.showsOthers, try translated(log.entry(own)) == nil else { return own.text }
        guard let other = EntryName(name), try translated(log.entry(other)) != nil else { return own.text }
        return name
    }

    func shortened(_ name: String) -> String { part.map { name.dropping($0.prefix) } ?? name }
}

extension Keychain.Transaction {
    /// Returns the name under which the vault stores the entry to which `name` refers, given the changes of this
    /// transaction. If another process changes the result before the commit, the transaction runs again.
    mutating func shown(_ name: String) throws(VaultError) -> EntryName {
        let own = try keychain.checked(name)
        guard keychain.part?.showsOthers == true, !hasSet(own), try entry(own) == nil else { return own }
        guard let other = EntryName(name), try entry(other) != nil else { return own }
        return other
    }

    /// Returns the entries to remove for a name: the entry in the program's part, even if it has expired, and the
    /// vault's entry to which `name` refers if the part has no such entry.
    mutating func removed(_ name: String) throws(VaultError) -> [EntryName] {
        let own = try keychain.checked(name)
        guard keychain.part?.showsOthers == true, let other = EntryName(name), try isPresent(other) else {
            return [own]
        }
        return [own, other]
    }
}
