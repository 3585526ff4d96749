// A value moves to another store in this order: it is stored in the new one, durably, and only then removed from the old one. So a
// crash leaves it in the old store, or in both; the new one decides, and the next use finishes the move.

extension StoredKey {
    /// The value in the key's store; one that still lies in the old store moves first.
    func readMoving() throws(VaultError) -> StoredValue? {
        let store = try store()
        try finishMove()
        return try store.value(of: name)
    }

    /// Brings the value of the old store here, unless there is one here already, and removes it there.
    ///
    /// One that cannot be read as this key's type stays where it is: an error, unless there is a value here, which decides.
    func finishMove() throws(VaultError) {
        guard let old = try oldHome?.resolve() else { return }
        let new = try home.resolve()
        // In one and the same store the value would be taken for the newer one, and then removed as the older one.
        guard old.identity != new.identity else { return }
        while let value = try old.value(of: name) {
            guard let moved = try readable(value, unlessIn: new) else { return }
            // False if there is a value here already: the newer one.
            let isMoved = try new.commit(StoreBatch([name: moved], expecting: [name: nil]))
            // Also where the value was here already: a process that was killed may have left it, unflushed.
            try new.makeDurable()
            // False if the old value was changed meanwhile, which a program of the older version can do.
            if try old.commit(StoreBatch([name: nil], expecting: [name: value])) { return }
            // Someone else has finished the move, and removed the value since: it must not come back.
            if isMoved, try old.value(of: name) == nil {
                _ = try new.commit(StoreBatch([name: nil], expecting: [name: moved]))
            }
        }
    }

    /// The old store's value as the new one keeps it; nil if it cannot be read and the new one has a value.
    private func readable(_ value: StoredValue, unlessIn new: any ValueStore) throws(VaultError) -> StoredValue? {
        do {
            // Through the type: the new store may have another form for it.
            return try Value(stored: value, of: name).storedValue(for: name)
        } catch {
            guard try new.value(of: name) == nil else { return nil }
            throw error
        }
    }
}
