import Vault

/// A store that runs something in the middle of each commit.
final class InterruptedStore: ValueStore {
    let changes = ChangeFeed()
    let failures = FailureLog()
    private let base = MemoryStore()
    private let interruption: @Sendable () -> Void

    init(_ interruption: @escaping @Sendable () -> Void) {
        self.interruption = interruption
    }

    func value(of key: String) -> StoredValue? { base.value(of: key) }
    func keys(prefix: String) -> [String] { base.keys(prefix: prefix) }
    func commit(_ batch: StoreBatch) -> Bool {
        interruption()
        return base.commit(batch)
    }
}
