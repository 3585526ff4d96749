import LinuxSystem

// A value is durable in the new store before it is removed from the old one. So after a crash, it is in the old store
// or in both. The new store's value takes precedence, and the next use finishes the move.

extension ValueKey {
    /// Moves the value if the key's history has another store or name.
    package func finishMove(into store: any ValueStore, for use: KeyUse) throws(VaultError) {
        if self.store.history.isMoved { try move(into: store, for: use) }
    }

    /// Moves the value from the old store to the new one. If the new one already has a value, only removes the old one.
    ///
    /// An old value that is not readable as this key's type stays in the old store. That is an error, unless the new
    /// store has a value or the caller is about to write one.
    private func move(into new: any ValueStore, for use: KeyUse) throws(VaultError) {
        let (old, oldName): (any ValueStore, String)
        do throws(VaultError) {
            (old, oldName) = (try store.history.oldStore?() ?? new, store.history.oldName ?? name)
            // If both are the same entry, the move would mistake its value for a newer one and remove it.
            guard !new.identity.shows(old.identity, oldName, as: name) else { return }
            guard try old.value(of: oldName) != nil else { return }
        } catch { return try passOver(error, for: use, with: new) }
        let turn = try MoveTurn(of: name, into: new.identity)
        defer { turn.end() }
        // Reads the value again, since another thread may have moved it meanwhile.
        var next = try old.value(of: oldName)
        while let value = next {
            guard try isReadable(value, for: use, unlessIn: new) else { return }
            if let taken = try take(value, into: new), try old.value(of: oldName) == nil {
                // Another process finished the move and removed the value, so it must not return. If the old value
                // still exists, the stored one stays, since a process that finishes the move may rely on it.
                _ = try new.commit(StoreBatch([name: nil], expecting: [name: taken]))
                return
            }
            // Also flushes a value that the new store had before, since its writer may have been killed before a flush.
            try new.makeDurable()
            // This commit fails if an older version of the program changed the old value meanwhile.
            if try old.commit(StoreBatch([oldName: nil], expecting: [oldName: value])) { return }
            next = try old.value(of: oldName)
        }
    }

    /// Ignores the failure of an old store if the use allows that, and reports it unless it is the last reported one.
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
        do { _ = try converted(value) } catch {
            guard use != .writing, try new.value(of: name) == nil else { return false }
            throw error
        }
        return true
    }

    /// Stores the old value if the new store has none, and returns the stored value. Returns nil if the new store
    /// already has a value, which is newer.
    ///
    /// The value is stored unchanged, since converting it to the key's type and back could lose fields that another
    /// version of the type has. Only untyped bytes get the type as which they are read, and a value that the store
    /// refuses is converted to the type's current form.
    private func take(_ value: StoredValue, into new: any ValueStore) throws(VaultError) -> StoredValue? {
        func stored(_ value: StoredValue) throws(VaultError) -> StoredValue? {
            try new.commit(StoreBatch([name: value], expecting: [name: nil])) ? value : nil
        }
        func storedAsToday() throws(VaultError) -> StoredValue? {
            guard let present = try converted(value)?.storedValue(for: name) else { return nil }
            return try stored(present)
        }
        if case .untyped = value { return try storedAsToday() }
        do { return try stored(value) } catch {
            guard error.code == .invalid, try converted(value)?.storedValue(for: name) != value else { throw error }
            return try storedAsToday()
        }
    }
}

/// A lock for moving a value. Two threads of this process could each mistake the other's value for its own.
private struct MoveTurn: Hashable {
    private static let all = Mutex<Set<MoveTurn>>([])

    private let store: StoreIdentity
    private let name: String

    /// Waits for the lock. Throws ``VaultError/Code/busy`` after ten seconds.
    init(of name: String, into store: StoreIdentity) throws(VaultError) {
        self.store = store
        self.name = name
        var contention = Contention()
        while !MoveTurn.all.withLock({ [self] in $0.insert(self).inserted }) { try contention.pause() }
    }

    func end() { MoveTurn.all.withLock { _ = $0.remove(self) } }
}
