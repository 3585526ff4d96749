import SealedLog

/// The part of a vault that belongs to one program: the entries whose names begin with a prefix, which it does not see.
struct KeychainPart: Hashable, Sendable {
    let prefix: String
    /// Whether a name without an entry in the part shows the vault's entry of that name, as `vault set` stores it. It
    /// is read, and never written to. If it is removed, it is removed there: it would show again.
    let showsOthers: Bool
}

extension Keychain {
    /// Returns the name under which the vault has an entry of this keychain.
    func ownName(_ name: String) -> String { part.map { $0.prefix + name } ?? name }

    func checked(_ name: String) throws(VaultError) -> EntryName {
        guard !name.isEmpty, let own = EntryName(ownName(name)) else { throw Naming.name.refusal(of: name) }
        return own
    }

    /// Returns the name of the vault's entry that a name shows here.
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

    /// Returns the name here of an entry that the vault has in this keychain's part.
    func shortened(_ name: String) -> String { part.map { name.dropping($0.prefix) } ?? name }
}

extension Keychain.Transaction {
    /// Returns the name of the vault's entry that a name shows after the changes of this transaction. The transaction
    /// expects it to stay so.
    mutating func shown(_ name: String) throws(VaultError) -> EntryName {
        let own = try keychain.checked(name)
        guard keychain.part?.showsOthers == true, !hasSet(own), try entry(own) == nil else { return own }
        guard let other = EntryName(name), try entry(other) != nil else { return own }
        return other
    }

    /// Returns all entries of the vault that a removal must remove: its own, also one that has expired.
    mutating func removed(_ name: String) throws(VaultError) -> [EntryName] {
        let own = try keychain.checked(name)
        guard keychain.part?.showsOthers == true, let other = EntryName(name), try isPresent(other) else {
            return [own]
        }
        return [own, other]
    }
}
