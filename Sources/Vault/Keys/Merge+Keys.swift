import SealedLog

extension Keychain.Copies.Merge {
    /// The keys of this vault that the copy has removed, or may have, so that nothing was merged: a person has to say
    /// whether they stay.
    package var doubtedKeys: [Keychain.VaultKeys.Key] {
        let keys = Keychain.VaultKeys.Key.all(slots.after)
        return slots.doubted.filter(keys.indices.contains).map { keys[$0] }
    }

    /// The keys that open the vault no more, since one of the copies has removed them.
    package var removedKeys: [Keychain.VaultKeys.Key] { Keychain.VaultKeys.Key.all(slots.gone) }

    /// Those that have opened this vault and open it no more, since the other one's data key counts, which was not made
    /// for them.
    package var lostKeys: [Keychain.VaultKeys.Key] {
        Keychain.VaultKeys.Key.all(slots.before, without: slots.after + slots.gone)
    }

    /// Those that open this vault since, and are the other copy's.
    package var addedKeys: [Keychain.VaultKeys.Key] { Keychain.VaultKeys.Key.all(slots.after, without: slots.before) }

    /// Those that open this vault and not the copy, where nobody is asked about them. The key that has opened both may
    /// have another name in each.
    package var keysOfVaultAlone: [Keychain.VaultKeys.Key] {
        doubtedKeys.isEmpty ? Keychain.VaultKeys.Key.all(slots.after, without: slots.copy).filter { !$0.isInUse } : []
    }

    /// Those that open the copy and not this vault.
    package var keysOfCopyAlone: [Keychain.VaultKeys.Key] {
        Keychain.VaultKeys.Key.all(slots.copy, without: slots.after).filter { !$0.isInUse }
    }
}

extension Keychain.VaultKeys.Key {
    fileprivate static func all(_ slots: [LogKeySlot], without others: [LogKeySlot]) -> [Keychain.VaultKeys.Key] {
        let others = all(others)
        return all(slots).filter { key in !others.contains(where: key.isSame) }
    }
}
