extension MemoryStore {
    /// The process's own values in memory. Within a task that has test stores it is their store.
    ///
    /// - Throws: ``VaultError`` with `unavailable` only in tests, outside of their stores.
    public static var standard: MemoryStore {
        get throws(VaultError) {
            try StandardStores.resolve(\.memory) { shared }
        }
    }

    /// Where errors of the standard store are reported.
    public static let standardFailures = FailureLog()

    private static let shared = MemoryStore(failures: standardFailures)
}
