import LinuxSystem

/// A store that keeps values in memory until the process exits.
///
/// Values are converted as in the other stores, so a type that works in this store works in all of them. Values are
/// neither wiped nor protected from being swapped out, so don't keep secrets here.
public final class MemoryStore: ValueStore {
    public let changes = ChangeFeed()
    public let failures: FailureLog
    private let values = Mutex<[String: StoredValue]>([:])

    /// Creates an empty store.
    public init(failures: FailureLog = FailureLog()) { self.failures = failures }

    public func value(of key: String) -> StoredValue? { values.withLock { $0[key] } }
    public func keys(prefix: String) -> [String] { contents(prefix: prefix).keys.sortedByBytes() }

    public func contents(prefix: String) -> [String: StoredValue] {
        values.withLock { values in values.filter { $0.key.utf8.starts(with: prefix.utf8) } }
    }

    public func commit(_ batch: StoreBatch) -> Bool {
        let committed = values.withLock { values in
            guard batch.expectations.allSatisfy({ values[$0.key] == $0.value }) else { return false }
            for (key, value) in batch.changes { values[key] = value }
            return true
        }
        if committed { changes.notify() }
        return committed
    }
}

extension MemoryStore: Redacted { public var description: String { "MemoryStore" } }
