import LinuxSystem

// The calls of ``ValueKey`` for code that awaits: the compiler chooses them wherever `await` is possible. They block a
// thread of the library's own, not one that the program's tasks share.

extension ValueKey where Self: Sendable, Value: Sendable, Reading: Sendable {
    /// Returns the value, as the blocking call of the same name does.
    public func read() async throws(VaultError) -> Reading {
        try await onBlockingThread { () throws(VaultError) in try read() }
    }

    /// Sets the value.
    public func write(_ value: Value) async throws(VaultError) {
        try await onBlockingThread { () throws(VaultError) in try write(value) }
    }

    /// Removes the value, if there is one.
    public func remove() async throws(VaultError) {
        try await onBlockingThread { () throws(VaultError) in try remove() }
    }

    /// Returns whether there is a value, of whatever type.
    public func exists() async throws(VaultError) -> Bool {
        try await onBlockingThread { () throws(VaultError) in try exists() }
    }

    /// Changes the value atomically. `body` runs on a thread of the library's own.
    @discardableResult
    public func update<Result: Sendable>(
        _ body: @Sendable (inout Reading) throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        try await onBlockingThread { () throws(VaultError) in try update(body) }
    }
}

extension ValueKey where Self: Sendable, Value: Sendable, Reading: Sendable {
    /// Does the same for a closure that throws errors of its own.
    @_disfavoredOverload
    @discardableResult
    public func update<Result: Sendable>(_ body: @Sendable (inout Reading) throws -> Result) async throws -> Result {
        try await onBlockingThread { () throws(any Error) in try update(body) }
    }
}

extension ValueStore {
    /// Runs `body`, which may block, on a thread of the library's own: for calls of a store without an async form.
    ///
    /// ```swift
    /// let items = try await keychain.asynchronously { try $0.items(prefix: "u.") }
    /// ```
    ///
    /// There are eight such threads at most. A call cannot be cancelled half way.
    ///
    /// - Throws: what `body` throws.
    public func asynchronously<Result: Sendable, Failure: Error>(
        _ body: @Sendable (Self) throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await onBlockingThread { () throws(Failure) in try body(self) }
    }

    /// Makes changes to several keys all together or not at all. `body` runs on a thread of the library's own.
    public func atomically<Result: Sendable>(
        _ body: @Sendable (inout ValueTransaction) throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        try await onBlockingThread { () throws(VaultError) in try atomically(body) }
    }
}

extension ValueStore {
    /// Does the same for a closure that throws errors of its own.
    @_disfavoredOverload
    public func atomically<Result: Sendable>(
        _ body: @Sendable (inout ValueTransaction) throws -> Result
    ) async throws -> Result {
        try await onBlockingThread { () throws(any Error) in try atomically(body) }
    }
}

extension StoreReference {
    /// Runs `body`, which may block, as ``ValueStore/asynchronously(_:)`` does. The store is not looked up first.
    public func asynchronously<Result: Sendable, Failure: Error>(
        _ body: @Sendable (StoreReference) throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await onBlockingThread { () throws(Failure) in try body(self) }
    }
}
