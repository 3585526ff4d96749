extension ValueKey {
    /// Returns the value. If there is none, returns the key's default, or nil if it has no default.
    ///
    /// - Throws: ``VaultError``: `locked`, `damaged`, `busy` and `unavailable` if the store cannot be read; `wrongType`
    ///   and `unreadable` if the value is not of this type.
    public func read() throws(VaultError) -> Reading { try reading(converted(storedValue())) }

    /// Sets the value. The store contains the value when this method returns.
    ///
    /// - Throws: ``VaultError`` as ``read()-8f9bj``; `invalid` for a value that its type refuses or the store cannot
    ///   hold. The former value remains, unless the error is `outcomeUnknown`.
    public func write(_ value: Value) throws(VaultError) { try set(value) }

    /// Removes the value, if there is one.
    ///
    /// - Throws: as ``write(_:)-5u2oi``.
    public func remove() throws(VaultError) { try set(nil) }

    /// Returns whether the key has a value, of any type. A default does not count.
    ///
    /// - Throws: ``VaultError`` as ``read()-8f9bj``.
    public func exists() throws(VaultError) -> Bool { try storedValue() != nil }

    /// Changes the value atomically, so that no write of another thread or process is lost. (For preferences that
    /// coalesce writes, see ``Preferences/init(suite:coalescing:failures:)``.)
    ///
    /// `body` receives the result of ``read()-8f9bj``, which is nil if there is neither a value nor a default. Setting
    /// it to nil removes the value. `body` may run more than once, so it should only change the value. It must not
    /// write this key by another call. No lock is held while `body` runs. If it throws, nothing is changed.
    ///
    /// A closure that throws errors of its own declares that: `{ value throws(any Error) in … }`.
    ///
    /// - Throws: ``VaultError`` as ``write(_:)-5u2oi``, and the errors of `body`.
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
    /// Changes the value atomically, for a closure that throws errors of its own.
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
    /// Checks the key's name and returns its store. If a use is given, first finishes moving the value to that store.
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

/// The use of a key, which determines whether a failure of the old store is an error.
package enum KeyUse {
    /// A read ignores the failure if the new store has a value, since that value takes precedence.
    case reading
    /// A write ignores the failure, since the written value takes precedence from then on.
    case writing
    /// A removal throws the failure, since a value removed only from the new store would reappear from the old one.
    case removing
}

// MARK: - Access that cannot throw

extension ValueKey {
    /// The value or the default. Setting it to nil removes the value.
    ///
    /// A failure is reported to the store's ``ValueStore/failures``, and reading then returns the default or nil.
    /// ``read()-8f9bj`` distinguishes a failure from a missing value.
    public var value: Reading {
        get { reporting(read) ?? reading(nil) }
        // Only this setter is mutating, so that it cannot be used on the keys of a struct in a `let` constant.
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
