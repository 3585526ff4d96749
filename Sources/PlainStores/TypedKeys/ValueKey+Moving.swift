import LinuxSystem

// A value is stored in the new place, durably, and only then removed from the old one. So a crash leaves it in the old
// place, or in both. The new place's value counts, and the next use finishes the move.

extension ValueKey {
    /// Moves here what is still where the key's history says.
    package func finishMove(into store: any ValueStore, for use: KeyUse) throws(VaultError) {
        if self.store.history.isMoved { try move(into: store, for: use) }
    }

    /// Moves the value from the old place to the new one, unless that has one already, and removes it from the old one.
    ///
    /// A value that cannot be read as this key's type stays in the old place. That is an error, unless the new one has
    /// a value, which counts, or one is about to be written.
    private func move(into new: any ValueStore, for use: KeyUse) throws(VaultError) {
        let (old, oldName): (any ValueStore, String)
        do throws(VaultError) {
            (old, oldName) = (try store.history.oldStore?() ?? new, store.history.oldName ?? name)
            // If both are the same place, the value would count as the newer one, and then be removed as the older one.
            guard !new.identity.shows(old.identity, oldName, as: name) else { return }
            guard try old.value(of: oldName) != nil else { return }
        } catch { return try passOver(error, for: use, with: new) }
        let turn = try MoveTurn(of: name, into: new.identity)
        defer { turn.end() }
        // Another thread may have moved it meanwhile.
        var next = try old.value(of: oldName)
        while let value = next {
            guard try isReadable(value, for: use, unlessIn: new) else { return }
            if let taken = try take(value, into: new), try old.value(of: oldName) == nil {
                // Another process had finished the move before, and removed the value since: it must not return. One
                // that finishes the move from now on has seen what was taken, and that must stay.
                _ = try new.commit(StoreBatch([name: nil], expecting: [name: taken]))
                return
            }
            // Also if the value was there already: a process that was killed may have left it unflushed.
            try new.makeDurable()
            // False if a program of the older version changed the old value meanwhile.
            if try old.commit(StoreBatch([oldName: nil], expecting: [oldName: value])) { return }
            next = try old.value(of: oldName)
        }
    }

    /// Continues without an old store that fails, if the use allows that. The failure is then reported once.
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

    /// Stores the old place's value, if the new one has none, unchanged: a conversion to the type and back could lose
    /// what another version of the type has added. Only bytes without a type get the one they are read as, and a value
    /// that the store refuses gets the form in which the type is stored today.
    ///
    /// - Returns: what was stored; nil if the new place has a value already, which is the newer one.
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

/// The turn of one thread of this process to move a value: of two at once, each could take the other's for its own.
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
