import LinuxSystem

/// Values in memory, gone when the process ends.
///
/// They go through the same conversions as in the other stores, so that a type that works here works there. Nothing is wiped
/// or kept from being swapped out: it is not a place for secrets.
public final class MemoryStore: ValueStore {
    public let changes = ChangeFeed()
    public let failures: FailureLog
    private let values = Mutex<[String: StoredValue]>([:])

    /// An empty store.
    public init(failures: FailureLog = FailureLog()) {
        self.failures = failures
    }

    public func value(of key: String) -> StoredValue? {
        values.withLock { $0[key] }
    }

    public func keys(prefix: String) -> [String] {
        values.withLock { values in values.keys.filter { $0.utf8.starts(with: prefix.utf8) } }.sortedByBytes()
    }

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

extension [String] {
    /// In the order of their UTF-8, which is the same in every language and place.
    func sortedByBytes() -> [String] {
        sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
