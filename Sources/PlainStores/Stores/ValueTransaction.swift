import LinuxSystem

/// Changes that a store commits atomically, and the conditions for the commit.
public struct StoreBatch: Sendable {
    /// The values that keys must still have, where nil means no value. Empty for an unconditional write.
    public var expectations: [String: StoredValue?]
    /// The new values of keys, where nil removes a key.
    public var changes: [String: StoredValue?]
    /// Whether the commit also drops the changed keys' earlier values. Only a keychain keeps such values.
    public var forgetsHistory = false

    /// Creates a batch of changes, where nil removes a key. The changes are made only if all `expectations` hold.
    public init(_ changes: [String: StoredValue?], expecting expectations: [String: StoredValue?] = [:]) {
        self.changes = changes
        self.expectations = expectations
    }

    /// Returns whether each key has its expected value. Calls `value` to read the current ones, and throws its errors.
    public func holds(_ value: (String) throws(VaultError) -> StoredValue?) throws(VaultError) -> Bool {
        for (key, expected) in expectations {
            guard try value(key) == expected else { return false }
        }
        return true
    }
}

extension StoreBatch: Redacted {
    /// The changed keys, without their values.
    public var description: String { "StoreBatch(\(changes.keys.sortedByBytes()))" }
}

/// A transaction that changes several keys of one store atomically. See `atomically` of ``ValueStore``.
public struct ValueTransaction: ~Copyable, OptimisticTransaction {
    let store: any ValueStore
    private var batch = StoreBatch([:])
    private let readings: Readings

    init(on store: any ValueStore) {
        self.store = store
        readings = Readings(of: store)
    }

    mutating func value(of name: String) throws(VaultError) -> StoredValue? {
        if let changed = batch.changes[name] { return changed }
        if let expected = batch.expectations[name] { return expected }
        let stored = try store.value(of: name)
        batch.expectations.updateValue(stored, forKey: name)
        readings.names.withLock { _ = $0.insert(name) }
        return stored
    }

    mutating func set(_ name: String, to value: StoredValue?) { batch.changes.updateValue(value, forKey: name) }

    package consuming func commit() throws(VaultError) -> Bool {
        guard batch.changes.isEmpty else { return try store.commitChecked(batch) }
        // A read-only transaction needs no write access: two equal reads in a row are a consistent snapshot.
        guard batch.expectations.count > 1 else { return true }
        return try batch.holds { (key) throws(VaultError) in try store.value(of: key) }
    }

    /// Runs `body` and records the keys that it reads. `body` can change these keys only through the transaction.
    mutating func run<Result, Failure: Error>(
        _ body: (inout ValueTransaction) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result: Swift.Result<Result, Failure> = Readings.$current.withValue(readings) {
            do throws(Failure) { return .success(try body(&self)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}

extension ValueStore {
    /// Changes several keys atomically, with one durable write and one change event (see <doc:GettingStarted>).
    ///
    /// If another process or thread changes a value that the transaction has read, `body` runs again. So `body` should
    /// have no effects outside the transaction. No lock is held while it runs. If it throws, nothing is changed.
    ///
    /// If the closure is `{ (transaction) throws(VaultError) in … }`, this method throws only ``VaultError``.
    /// Otherwise, the compiler infers `any Error` for a closure with `try`.
    ///
    /// - Throws: the errors of `body`; the store's ``VaultError``; `busy` if other code keeps changing the keys.
    public func atomically<Result>(
        _ body: (inout ValueTransaction) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let run = { (transaction: inout ValueTransaction) throws(VaultError) in try transaction.run(body) }
        return try ValueTransaction.run({ ValueTransaction(on: self) }, rethrowing: { $0 }, run)
    }

    /// Commits a batch. Refuses to change a value that an enclosing transaction has read. Otherwise, the enclosing
    /// transaction could never commit, because each of its attempts would change the value again.
    func commitChecked(_ batch: StoreBatch) throws(VaultError) -> Bool {
        try Readings.current?.check(batch, of: self)
        return try commit(batch)
    }

    /// Throws if ``commitChecked(_:)`` would refuse to change `name`. Call this before changing it without a batch.
    package func checkChange(of name: String) throws(VaultError) {
        try Readings.current?.check(StoreBatch([name: nil]), of: self)
    }
}

extension ValueStore {
    /// Changes several keys atomically. The closure may throw any error.
    @_disfavoredOverload
    public func atomically<Result>(_ body: (inout ValueTransaction) throws -> Result) throws -> Result {
        let run = { (transaction: inout ValueTransaction) throws(any Error) in try transaction.run(body) }
        return try ValueTransaction.run({ ValueTransaction(on: self) }, rethrowing: { $0 }, run)
    }
}

/// The keys that a transaction has read, linked to the keys that its enclosing transactions have read.
private final class Readings: Sendable {
    @TaskLocal static var current: Readings?

    let names = Mutex<Set<String>>([])
    private let store: StoreIdentity
    private let outer: Readings?

    init(of store: any ValueStore) { (self.store, outer) = (store.identity, Readings.current) }

    func check(_ batch: StoreBatch, of store: any ValueStore) throws(VaultError) {
        let read = self.store == store.identity ? names.withLock { $0 } : []
        guard let name = batch.changes.keys.first(where: read.contains) else {
            try outer?.check(batch, of: store)
            return
        }
        throw VaultError(
            .invalid,
            "\"\(name)\" cannot be changed here: an enclosing transaction has read it or is updating it. "
                + "Change it through that transaction.")
    }
}
