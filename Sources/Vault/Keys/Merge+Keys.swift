import SealedFormat

extension Keychain.Copies.Merge {
    /// The keys of this vault that were, or may have been, removed from the copy. A person must decide whether to keep
    /// them. Until then, nothing is merged.
    package var doubtedKeys: [Keychain.VaultKeys.Key] {
        let keys = Keychain.VaultKeys.Key.all(slots.after)
        return slots.doubted.filter(keys.indices.contains).map { keys[$0] }
    }

    /// The keys that no longer open the vault because they were removed from one of the copies.
    package var removedKeys: [Keychain.VaultKeys.Key] { Keychain.VaultKeys.Key.all(slots.gone) }

    /// The keys that no longer open this vault, because the merge adopted a data key that is not wrapped for them.
    package var lostKeys: [Keychain.VaultKeys.Key] {
        Keychain.VaultKeys.Key.all(slots.before, without: slots.after + slots.gone)
    }

    /// The keys that the merge has added from the other copy.
    package var addedKeys: [Keychain.VaultKeys.Key] { Keychain.VaultKeys.Key.all(slots.after, without: slots.before) }

    /// The keys that open this vault but not the copy; empty if there are ``doubtedKeys``. The key that opened both is
    /// omitted, since the vault and the copy may describe it differently.
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
