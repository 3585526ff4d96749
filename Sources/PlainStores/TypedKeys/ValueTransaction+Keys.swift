extension ValueTransaction {
    /// Returns a key's value, including this transaction's changes. If there is none, returns the key's default or nil.
    ///
    /// - Throws: ``VaultError``, as ``ValueKey/read()-8f9bj`` does; `invalid` for a key of another store.
    public mutating func read<Key: ValueKey>(_ key: Key) throws(VaultError) -> Key.Reading {
        try prepare(key, for: .reading)
        return try key.reading(key.converted(value(of: key.name)))
    }

    /// Sets the value of a key.
    ///
    /// - Throws: ``VaultError`` with `invalid` if the type does not allow the value, or for a key of another store.
    public mutating func write<Key: ValueKey>(_ value: Key.Value, to key: Key) throws(VaultError) {
        try put(value, for: key)
    }

    /// Removes the value of a key, if it has one.
    ///
    /// - Throws: ``VaultError`` with `invalid` for a key of another store.
    public mutating func remove(_ key: some ValueKey) throws(VaultError) { try put(nil, for: key) }

    mutating func put<Key: ValueKey>(_ value: Key.Value?, for key: Key) throws(VaultError) {
        try prepare(key, for: value == nil ? .removing : .writing)
        set(key.name, to: try value?.storedValue(for: key.name))
    }

    /// Checks that a key belongs to the transaction's store, so that a secret cannot end up in the preferences by
    /// mistake. Then finishes moving the value if it is still in its old store or under its former name.
    private func prepare(_ key: some ValueKey, for use: KeyUse) throws(VaultError) {
        let home = try key.resolved()
        guard home.identity == store.identity else {
            throw VaultError(.invalid, "The key \"\(key.name)\" belongs to a different store than the transaction.")
        }
        try key.finishMove(into: home, for: use)
    }
}
