// A value moves to another store in this order: it is stored in the new one, durably, and only then removed from the old one. So a
// crash leaves it in the old store, or in both; the new one decides, and the next use finishes the move.

/// What a key is used for: whether an old store that fails stands in the way.
enum KeyUse {
    /// Not if the new store has a value: that is the one.
    case reading
    /// No: what is written decides from then on.
    case writing
    /// Yes: what is removed here only would be back as soon as the old store can be read.
    case removing
}

extension StoredKey {
    /// The value in the key's store; one that still lies in the old store moves first.
    func readMoving() throws(VaultError) -> StoredValue? {
        let store = try store()
        try finishMove()
        return try store.value(of: name)
    }

    /// Brings the value of the old store here, unless there is one here already, and removes it there.
    ///
    /// One that cannot be read as this key's type stays where it is: an error, unless there is a value here, which decides, or is
    /// about to be.
    func finishMove(for use: KeyUse = .reading) throws(VaultError) {
        guard let oldHome else { return }
        let new = try home.resolve()
        let old: any ValueStore
        var next: StoredValue?
        do throws(VaultError) {
            old = try oldHome.resolve()
            // In one and the same store the value would be taken for the newer one, and then removed as the older one.
            guard old.identity != new.identity else { return }
            next = try old.value(of: name)
        } catch { return try passOver(error, for: use, with: new) }
        while let value = next {
            guard try isReadable(value, for: use, unlessIn: new) else { return }
            let moved = try take(value, into: new)
            // Also where the value was here already: a process that was killed may have left it, unflushed.
            try new.makeDurable()
            // False if the old value was changed meanwhile, which a program of the older version can do.
            if try old.commit(StoreBatch([name: nil], expecting: [name: value])) { return }
            next = try old.value(of: name)
            // Someone else has finished the move, and removed the value since: it must not come back.
            if let moved, next == nil {
                _ = try new.commit(StoreBatch([name: nil], expecting: [name: moved]))
            }
        }
    }

    /// Goes on without an old store that cannot be asked, where the use allows that; it is reported then, once.
    private func passOver(_ error: VaultError, for use: KeyUse, with new: any ValueStore) throws(VaultError) {
        switch use {
        case .reading: guard try new.value(of: name) != nil else { throw error }
        case .writing: break
        case .removing: throw error
        }
        if new.failures.lastError != error { new.failures.report(error, key: name) }
    }

    private func isReadable(
        _ value: StoredValue, for use: KeyUse, unlessIn new: any ValueStore
    ) throws(VaultError) -> Bool {
        do {
            _ = try Value(stored: value, of: name)
            return true
        } catch {
            if case .writing = use { return false }
            guard try new.value(of: name) == nil else { return false }
            throw error
        }
    }

    /// Stores the old store's value, if there is none here.
    ///
    /// It stays as it is: on the way through the type it could lose what another version of the type has added. Only bytes that have no
    /// type yet get the one that they are read as, and what the store refuses gets the form in which the type is stored today.
    ///
    /// - Returns: what was stored; nil if there is a value here already, the newer one.
    private func take(_ value: StoredValue, into new: any ValueStore) throws(VaultError) -> StoredValue? {
        func converted() throws(VaultError) -> StoredValue {
            try Value(stored: value, of: name).storedValue(for: name)
        }
        func stored(_ value: StoredValue) throws(VaultError) -> StoredValue? {
            try new.commit(StoreBatch([name: value], expecting: [name: nil])) ? value : nil
        }
        if case .untyped = value { return try stored(converted()) }
        do { return try stored(value) } catch {
            guard error.code == .invalid else { throw error }
            let other = try converted()
            guard other != value else { throw error }
            return try stored(other)
        }
    }
}
