import SealedFormat

extension Keychain.Copies.Merge {
    /// The keys of this vault that the copy has removed, or may have removed, and for which a person must decide
    /// whether they stay. Nothing was merged because of them.
    package var doubtedKeys: [Keychain.VaultKeys.Key] {
        let keys = Keychain.VaultKeys.Key.all(slots.after)
        return slots.doubted.filter(keys.indices.contains).map { keys[$0] }
    }

    /// The keys that no longer open the vault because they were removed from one of the copies.
    package var removedKeys: [Keychain.VaultKeys.Key] { Keychain.VaultKeys.Key.all(slots.gone) }

    /// The former keys of this vault that no longer open it because the adopted data key was not wrapped for them.
    package var lostKeys: [Keychain.VaultKeys.Key] {
        Keychain.VaultKeys.Key.all(slots.before, without: slots.after + slots.gone)
    }

    /// The keys that were taken over from the other copy.
    package var addedKeys: [Keychain.VaultKeys.Key] { Keychain.VaultKeys.Key.all(slots.after, without: slots.before) }

    /// The keys that open this vault but not the copy, and need no decision. The key that has opened both is omitted,
    /// since each vault may describe it differently.
    package var keysOfVaultAlone: [Keychain.VaultKeys.Key] {
        doubtedKeys.isEmpty ? Keychain.VaultKeys.Key.all(slots.after, without: slots.copy).filter { !$0.isInUse } : []
    }

    /// The keys that open the copy but not this vault.
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
