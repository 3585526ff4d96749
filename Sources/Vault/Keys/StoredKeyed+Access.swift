extension StoredKeyed {
    /// The value; the key's default where there is none, and nil if it has no default.
    ///
    /// - Throws: ``VaultError``: `locked`, `damaged`, `busy` and `unavailable` if the store cannot be read; `wrongType` and `unreadable`
    ///   if the value is none of this type.
    public func read() throws(VaultError) -> Value? {
        guard let value = try stored.readMoving() else { return stored.defaultValue }
        return try Value(stored: value, of: stored.name)
    }

    /// Sets the value; the store has it when this returns.
    ///
    /// - Throws: ``VaultError`` as ``read()``; `invalid` for a value that refuses to be stored or that the store cannot hold. What was
    ///   there holds, unless the error is `outcomeUnknown`.
    public func write(_ value: Value) throws(VaultError) {
        try set(value.storedValue(for: stored.name))
    }

    /// Removes the value, if there is one.
    ///
    /// - Throws: as ``write(_:)``.
    public func remove() throws(VaultError) {
        try set(nil)
    }

    /// Whether there is a value, of whatever type. A default is none.
    ///
    /// - Throws: ``VaultError`` as ``read()``.
    public func exists() throws(VaultError) -> Bool {
        try stored.readMoving() != nil
    }

    /// Changes the value in one piece: what another thread or process writes meanwhile is not lost.
    /// (Preferences that coalesce know only of their own changes until they are written; see
    /// ``Preferences/Writing/coalesced(every:)``.)
    ///
    /// `body` gets the value, or the key's default. It may run more than once, so it should do nothing but change the
    /// value. No lock is held meanwhile. If it throws, nothing is changed.
    ///
    /// - Throws: what `body` throws; ``VaultError`` as ``write(_:)``, and `absent` if there is neither a value nor a default.
    @discardableResult
    public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        try updateOptional { (value: inout Value?) in
            guard var present = value else {
                throw VaultError(.absent, "There is no value for \"\(stored.name)\" to update, and no default.")
            }
            let result = try body(&present)
            value = present
            return result
        }
    }

    /// The same for a value that may be absent: nil comes in where there is neither a value nor a default, and setting nil removes.
    ///
    /// - Throws: what `body` throws; ``VaultError`` as ``write(_:)``.
    @discardableResult
    public func updateOptional<Result>(_ body: (inout Value?) throws -> Result) throws -> Result {
        try stored.store().atomically { transaction in
            var value = try transaction.read(stored)
            let result = try body(&value)
            if let value {
                try transaction.write(value, to: stored)
            } else {
                try transaction.remove(stored)
            }
            return result
        }
    }

    private func set(_ value: StoredValue?) throws(VaultError) {
        let store = try stored.store()
        try stored.finishMove(for: value == nil ? .removing : .writing)
        _ = try store.commit(StoreBatch([stored.name: value]))
    }
}
