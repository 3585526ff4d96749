import LinuxSystem

// The asynchronous methods of ``ValueKey``, which the compiler selects wherever `await` is possible. They block one of
// the library's own threads instead of a thread that the program's tasks share.

extension ValueKey where Self: Sendable, Value: Sendable, Reading: Sendable {
    /// Returns the value, as the blocking method of the same name does.
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

    /// Returns whether the key has a value, of any type.
    public func exists() async throws(VaultError) -> Bool {
        try await onBlockingThread { () throws(VaultError) in try exists() }
    }

    /// Changes the value atomically. `body` runs on one of the library's own threads.
    @discardableResult
    public func update<Result: Sendable>(
        _ body: @Sendable (inout Reading) throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        try await onBlockingThread { () throws(VaultError) in try update(body) }
    }
}

extension ValueKey where Self: Sendable, Value: Sendable, Reading: Sendable {
    /// Changes the value atomically. `body` may throw any error, and runs on one of the library's own threads.
    @_disfavoredOverload
    @discardableResult
    public func update<Result: Sendable>(_ body: @Sendable (inout Reading) throws -> Result) async throws -> Result {
        try await onBlockingThread { () throws(any Error) in try update(body) }
    }
}

extension ValueStore {
    /// Runs `body`, which may block, on one of the library's own threads. Use it to call methods that are not async.
    ///
    /// ```swift
    /// let items = try await keychain.asynchronously { try $0.items(prefix: "u.") }
    /// ```
    ///
    /// The library has at most eight of these threads. A running call cannot be cancelled.
    ///
    /// - Throws: the errors of `body`.
    public func asynchronously<Result: Sendable, Failure: Error>(
        _ body: @Sendable (Self) throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await onBlockingThread { () throws(Failure) in try body(self) }
    }

    /// Changes several keys atomically. `body` runs on one of the library's own threads.
    public func atomically<Result: Sendable>(
        _ body: @Sendable (inout ValueTransaction) throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        try await onBlockingThread { () throws(VaultError) in try atomically(body) }
    }

    /// Changes several keys atomically. `body` may throw any error, and runs on one of the library's own threads.
    @_disfavoredOverload
    public func atomically<Result: Sendable>(
        _ body: @Sendable (inout ValueTransaction) throws -> Result
    ) async throws -> Result {
        try await onBlockingThread { () throws(any Error) in try atomically(body) }
    }
}

extension StoreReference {
    /// Runs `body`, which may block, like ``ValueStore/asynchronously(_:)``, but does not look up the store beforehand.
    public func asynchronously<Result: Sendable, Failure: Error>(
        _ body: @Sendable (StoreReference) throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await onBlockingThread { () throws(Failure) in try body(self) }
    }
}
