/// Changes to several keys of one store, made all together or not at all: see ``ValueStore/atomically(_:)``.
public struct StoreTransaction: ~Copyable {
    private let store: any ValueStore
    private var batch = StoreBatch([:])

    init(on store: any ValueStore) {
        self.store = store
    }

    /// The value of a key as far as this transaction has come, or the key's default; nil if there is neither.
    ///
    /// - Throws: ``VaultError`` as ``StoredKeyed/read()``; `invalid` for a key of another store.
    public mutating func read<Key: StoredKeyed>(_ key: Key) throws(VaultError) -> Key.Value? {
        let key = try settled(key)
        guard let stored = try value(of: key.name) else { return key.defaultValue }
        return try Key.Value(stored: stored, of: key.name)
    }

    /// Sets the value of a key.
    ///
    /// - Throws: ``VaultError`` with `invalid` for a value that refuses to be stored or a key of another store.
    public mutating func write<Key: StoredKeyed>(_ value: Key.Value, to key: Key) throws(VaultError) {
        let key = try settled(key, for: .writing)
        set(key.name, to: try value.storedValue(for: key.name))
    }

    /// Removes the value of a key, if it has one.
    ///
    /// - Throws: ``VaultError`` with `invalid` for a key of another store.
    public mutating func remove(_ key: some StoredKeyed) throws(VaultError) {
        set(try settled(key, for: .removing).name, to: nil)
    }

    mutating func value(of name: String) throws(VaultError) -> StoredValue? {
        if let changed = batch.changes[name] { return changed }
        if let expected = batch.expectations[name] { return expected }
        let stored = try store.value(of: name)
        batch.expectations.updateValue(stored, forKey: name)
        return stored
    }

    mutating func set(_ name: String, to value: StoredValue?) {
        batch.changes.updateValue(value, forKey: name)
    }

    consuming func commit() throws(VaultError) -> Bool {
        guard batch.changes.isEmpty else { return try store.commit(batch) }
        // Nothing to write, so no need of the right to do it: what reads the same twice in a row was there at one time.
        guard batch.expectations.count > 1 else { return true }
        return try batch.holds { (key) throws(VaultError) in try store.value(of: key) }
    }

    /// A secret that is written to the preferences by mistake would lie there in the clear.
    private func settled<Key: StoredKeyed>(
        _ keyed: Key, for use: KeyUse = .reading
    ) throws(VaultError) -> StoredKey<Key.Value> {
        let key = keyed.stored
        guard try key.store().identity == store.identity else {
            throw VaultError(.invalid, "The key \"\(key.name)\" belongs to another store than the transaction's.")
        }
        try key.finishMove(for: use)
        return key
    }
}

extension ValueStore {
    /// Makes changes to several keys all together or not at all, with one durable write and one change event.
    ///
    /// ```swift
    /// try Keychain.standard.atomically { transaction in
    ///     try transaction.write("new", to: token)
    ///     try transaction.remove(refreshToken)
    /// }
    /// ```
    ///
    /// What the transaction reads is part of the bargain: if another process or thread changes it first, `body` runs again. So it
    /// should do nothing but read and write through the transaction. No lock is held meanwhile. If it throws, nothing is changed.
    ///
    /// - Throws: what `body` throws; ``VaultError`` with what the store throws, and `busy` if others keep changing the same keys.
    public func atomically<Result>(_ body: (inout StoreTransaction) throws -> Result) throws -> Result {
        var contention = Contention()
        while true {
            var transaction = StoreTransaction(on: self)
            let result = try body(&transaction)
            if try transaction.commit() { return result }
            try contention.pause()
        }
    }
}
