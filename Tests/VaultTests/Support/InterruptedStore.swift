import Vault

/// A store that runs something in the middle of each commit.
struct InterruptedStore: ValueStore {
    var base: any ValueStore = MemoryStore()
    let interruption: @Sendable () -> Void

    var changes: ChangeFeed { base.changes }
    var failures: FailureLog { base.failures }
    var identity: StoreIdentity { base.identity }
    func value(of key: String) throws(VaultError) -> StoredValue? { try base.value(of: key) }
    func keys(prefix: String) throws(VaultError) -> [String] { try base.keys(prefix: prefix) }
    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        interruption()
        return try base.commit(batch)
    }
}
