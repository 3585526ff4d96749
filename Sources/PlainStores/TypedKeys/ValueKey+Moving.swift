import LinuxSystem

// A value is stored durably in the new store before it is removed from the old one. So after a crash it is in the old
// store, or in both. The new store's value takes precedence, and the next use finishes the move.

extension ValueKey {
    /// Moves the value here if it is still at the location in the key's history.
    package func finishMove(into store: any ValueStore, for use: KeyUse) throws(VaultError) {
        if self.store.history.isMoved { try move(into: store, for: use) }
    }

    /// Moves the value from the old store to the new one, unless that has one already, and removes it from the old one.
    ///
    /// A value that cannot be read as this key's type stays in the old store. That is an error, unless the new store
    /// has a value, which takes precedence, or one is about to be written.
    private func move(into new: any ValueStore, for use: KeyUse) throws(VaultError) {
        let (old, oldName): (any ValueStore, String)
        do throws(VaultError) {
            (old, oldName) = (try store.history.oldStore?() ?? new, store.history.oldName ?? name)
            // If both are the same entry, the value would be taken for the newer one, and be removed as the older.
            guard !new.identity.shows(old.identity, oldName, as: name) else { return }
            guard try old.value(of: oldName) != nil else { return }
        } catch { return try passOver(error, for: use, with: new) }
        let turn = try MoveTurn(of: name, into: new.identity)
        defer { turn.end() }
        // The value is read again, since another thread may have moved it meanwhile.
        var next = try old.value(of: oldName)
        while let value = next {
            guard try isReadable(value, for: use, unlessIn: new) else { return }
            if let taken = try take(value, into: new), try old.value(of: oldName) == nil {
                // Another process finished the move earlier and then removed the value, which must not return. One that
                // finishes the move after this has read the value that this one stored: that must stay.
                _ = try new.commit(StoreBatch([name: nil], expecting: [name: taken]))
                return
            }
            // An existing value is flushed as well: a process that was killed may have left it unflushed.
            try new.makeDurable()
            // The commit fails if an older version of the program changed the old value meanwhile.
            if try old.commit(StoreBatch([oldName: nil], expecting: [oldName: value])) { return }
            next = try old.value(of: oldName)
        }
    }

    /// Ignores the failure of an old store, if the use allows that, and reports it once.
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

    /// Stores the old value unchanged, if the new store has none: a conversion to the type and back could lose fields
    /// that another version of the type has added. Only bytes without a type get the type as which they are read, and a
    /// value that the store refuses is converted to the type's present form. Returns the stored value; nil if the new
    /// store has a value already, which is newer.
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

/// The turn of one thread of this process to move a value. With two, each could take the other's value for its own.
private struct MoveTurn: Hashable {
    private static let all = Mutex<Set<MoveTurn>>([])

    private let store: StoreIdentity
    private let name: String

    /// Waits for the turn. Throws ``VaultError/Code/busy`` if it does not come for ten seconds.
    init(of name: String, into store: StoreIdentity) throws(VaultError) {
        self.store = store
        self.name = name
        var contention = Contention()
        while !MoveTurn.all.withLock({ [self] in $0.insert(self).inserted }) { try contention.pause() }
    }

    func end() { MoveTurn.all.withLock { _ = $0.remove(self) } }
}
