extension Keychain.Merge {
    /// The keys of this vault that the copy has removed, or may have, so that nothing was merged: a person has to say
    /// whether they stay.
    package var doubtedKeys: [Keychain.Key] {
        let keys = Keychain.Key.all(slots.after)
        return slots.doubted.filter(keys.indices.contains).map { keys[$0] }
    }

    /// The keys that open the vault no more, since one of the copies has removed them.
    package var removedKeys: [Keychain.Key] { Keychain.Key.all(slots.gone) }

    /// Those that have opened this vault and open it no more, since the other one's data key counts, which was not made
    /// for them.
    package var lostKeys: [Keychain.Key] {
        let left = Keychain.Key.all(slots.after + slots.gone)
        return Keychain.Key.all(slots.before).filter { key in !left.contains(where: key.isSame) }
    }

    /// Those that open this vault since, and are the other copy's.
    package var addedKeys: [Keychain.Key] {
        let before = Keychain.Key.all(slots.before)
        return Keychain.Key.all(slots.after).filter { key in !before.contains(where: key.isSame) }
    }
}
