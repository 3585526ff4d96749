extension ValueKey {
    /// Returns the value; nil if there is none, or the key's default if it has one.
    ///
    /// - Throws: ``VaultError``: `locked`, `damaged`, `busy` and `unavailable` if the store cannot be read; `wrongType`
    ///   and `unreadable` if the value is not of this type.
    public func read() throws(VaultError) -> Reading { try reading(converted(storedValue())) }

    /// Sets the value; the store has it when this returns.
    ///
    /// - Throws: ``VaultError`` as ``read()-8f9bj``; `invalid` for a value that refuses or that the store cannot hold.
    ///   The former value is kept, unless the error is `outcomeUnknown`.
    public func write(_ value: Value) throws(VaultError) { try set(value) }

    /// Removes the value, if there is one.
    ///
    /// - Throws: as ``write(_:)-5u2oi``.
    public func remove() throws(VaultError) { try set(nil) }

    /// Returns whether there is a value, of whatever type. A default does not count.
    ///
    /// - Throws: ``VaultError`` as ``read()-8f9bj``.
    public func exists() throws(VaultError) -> Bool { try storedValue() != nil }

    /// Changes the value atomically: no write of another thread or process is lost. (For preferences that coalesce
    /// writes see ``Preferences/init(suite:coalescing:failures:)``.)
    ///
    /// `body` gets what ``read()-8f9bj`` returns: nil if there is no value, unless the key has a default. Setting nil
    /// removes the value. It may run more than once, so it should only change the value; it must not write this key by
    /// another call. No lock is held while it runs. If it throws, nothing is changed.
    ///
    /// A closure that throws errors of its own says so: `{ value throws(any Error) in … }`.
    ///
    /// - Throws: ``VaultError`` as ``write(_:)-5u2oi``, and what `body` throws.
    @discardableResult
    public func update<Result>(_ body: (inout Reading) throws(VaultError) -> Result) throws(VaultError) -> Result {
        try resolved().atomically { (transaction) throws(VaultError) in
            var reading = try transaction.read(self)
            let result = try body(&reading)
            try transaction.put(Self.value(of: reading), for: self)
            return result
        }
    }

    private func set(_ value: Value?) throws(VaultError) {
        let stored = try value?.storedValue(for: name)
        _ = try resolved(for: value == nil ? .removing : .writing).commitChecked(StoreBatch([name: stored]))
    }
}

extension ValueKey {
    /// Does the same for a closure that throws errors of its own.
    @_disfavoredOverload
    @discardableResult
    public func update<Result>(_ body: (inout Reading) throws -> Result) throws -> Result {
        try resolved().atomically { (transaction) throws(any Error) in
            var reading = try transaction.read(self)
            let result = try body(&reading)
            try transaction.put(Self.value(of: reading), for: self)
            return result
        }
    }
}

extension ValueKey {
    /// Returns the key's store, and checks the key's name. For a use, it first moves the value here.
    package func resolved(for use: KeyUse? = nil) throws(VaultError) -> any ValueStore {
        try Naming.key.check(name)
        let store = try store.resolve()
        if let use { try finishMove(into: store, for: use) }
        return store
    }

    func storedValue() throws(VaultError) -> StoredValue? { try resolved(for: .reading).value(of: name) }

    func converted(_ stored: StoredValue?) throws(VaultError) -> Value? {
        guard let stored else { return nil }
        do throws(VaultError) { return try Value(stored: stored, of: name) } catch {
            guard let present = store.history.conversion?(stored) else { throw error }
            return try Value(stored: present, of: name)
        }
    }
}

/// The use of a key, which decides whether a failing old store prevents it.
package enum KeyUse {
    /// A failing old store does not prevent it if the new store has a value, which is then the right one.
    case reading
    /// A failing old store does not prevent it: the written value is the right one from then on.
    case writing
    /// A failing old store prevents it: a value removed from the new store alone would come back with the old one.
    case removing
}

// MARK: - Access that cannot throw

extension ValueKey {
    /// The value, or the default; setting nil removes it.
    ///
    /// A failure is reported to the store's ``ValueStore/failures``, and reading returns nil or the default.
    /// ``read()-8f9bj`` distinguishes a failure from a missing value.
    public var value: Reading {
        get { reporting(read) ?? reading(nil) }
        // Only this setter is mutating, so that a group of keys in a `let` cannot be written through.
        mutating set { setReporting(newValue) }
    }

    package func setReporting(_ value: Reading) {
        _ = reporting { () throws(VaultError) in try set(Self.value(of: value)) }
    }

    private func reporting<Result>(_ body: () throws(VaultError) -> Result) -> Result? {
        do { return try body() } catch {
            let failures = (try? store.resolve())?.failures ?? store.failures
            failures.report(error, key: name)
            return nil
        }
    }
}
