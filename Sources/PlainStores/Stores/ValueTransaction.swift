import LinuxSystem

/// Changes that a store commits together, and the conditions for making them.
public struct StoreBatch: Sendable {
    /// The values that keys must still have, nil for absent. Empty for a plain write.
    public var expectations: [String: StoredValue?]
    /// The new values of keys, nil to remove them.
    public var changes: [String: StoredValue?]
    /// Whether the earlier values of the changed keys are dropped. Only a keychain has such a history.
    public var forgetsHistory = false

    /// Creates a batch of changes, nil to remove, that are made only if all of `expectations` hold.
    public init(_ changes: [String: StoredValue?], expecting expectations: [String: StoredValue?] = [:]) {
        self.changes = changes
        self.expectations = expectations
    }

    /// Returns whether the values that `value` returns are those expected; throws what it throws.
    public func holds(_ value: (String) throws(VaultError) -> StoredValue?) throws(VaultError) -> Bool {
        for (key, expected) in expectations {
            guard try value(key) == expected else { return false }
        }
        return true
    }
}

extension StoreBatch: Redacted {
    /// The keys that are changed.
    public var description: String { "StoreBatch(\(changes.keys.sortedByBytes()))" }
}

/// Changes to several keys of one store, made all together or not at all: see `atomically` of ``ValueStore``.
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

    /// Runs `body`, and records the keys that it reads, so that calls within it can be checked.
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
    /// Makes changes to several keys all together or not at all, with one durable write and one change event: see
    /// <doc:GettingStarted>.
    ///
    /// If another process or thread changes what the transaction has read, `body` runs again. So it should do nothing
    /// but read and write through the transaction. No lock is held while it runs. If it throws, nothing is changed.
    ///
    /// `{ (transaction) throws(VaultError) in … }` makes this throw ``VaultError`` alone. Without that, the compiler
    /// infers `any Error` for a closure with `try`.
    ///
    /// - Throws: what `body` throws; ``VaultError`` as the store throws it, and `busy` if others keep changing the same
    ///   keys.
    public func atomically<Result>(
        _ body: (inout ValueTransaction) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let run = { (transaction: inout ValueTransaction) throws(VaultError) in try transaction.run(body) }
        return try ValueTransaction.run({ ValueTransaction(on: self) }, rethrowing: { $0 }, run)
    }

    /// Commits a batch, unless it changes a value that a transaction around this call has read. That transaction could
    /// never commit: it would run and make the same change again until it gives up.
    func commitChecked(_ batch: StoreBatch) throws(VaultError) -> Bool {
        try Readings.current?.check(batch, of: self)
        return try commit(batch)
    }

    /// Refuses a change of one key as ``commitChecked(_:)`` does, for changes that are not made by a batch.
    package func checkChange(of name: String) throws(VaultError) {
        try Readings.current?.check(StoreBatch([name: nil]), of: self)
    }
}

extension ValueStore {
    /// Does the same for a closure that throws any error.
    @_disfavoredOverload
    public func atomically<Result>(_ body: (inout ValueTransaction) throws -> Result) throws -> Result {
        let run = { (transaction: inout ValueTransaction) throws(any Error) in try transaction.run(body) }
        return try ValueTransaction.run({ ValueTransaction(on: self) }, rethrowing: { $0 }, run)
    }
}

/// The keys that the transactions around the code of this task or thread have read.
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
            "\"\(name)\" cannot be changed here: a transaction around this call has read it, or updates it. "
                + "Change it through that transaction.")
    }
}
