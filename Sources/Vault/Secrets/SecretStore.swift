import FoundationEssentials

/// A store whose values can expire, and can be read and written without leaving guarded memory.
protocol SecretStore: ValueStore {
    func withSecret<Result>(_ name: String, _ body: (RawSpan) throws -> Result) throws -> Result?
    /// - Parameter isForgetting: whether to remove the entry's earlier values from its history.
    func set(
        _ name: String, to value: borrowing SecretBytes, expires: Date?, forgetting isForgetting: Bool
    ) throws(VaultError)
    func set(_ name: String, to value: StoredValue, expires: Date?, forgetting isForgetting: Bool) throws(VaultError)
}

extension ScopedStore: SecretStore {
    func withSecret<Result>(_ name: String, _ body: (RawSpan) throws -> Result) throws -> Result? {
        try secretBase().withSecret(prefix + name, body)
    }

    func set(
        _ name: String, to value: borrowing SecretBytes, expires: Date?, forgetting isForgetting: Bool
    ) throws(VaultError) {
        try secretBase().set(prefix + name, to: value, expires: expires, forgetting: isForgetting || forgetsHistory)
    }

    func set(_ name: String, to value: StoredValue, expires: Date?, forgetting isForgetting: Bool) throws(VaultError) {
        try secretBase().set(prefix + name, to: value, expires: expires, forgetting: isForgetting || forgetsHistory)
    }

    private func secretBase() throws(VaultError) -> any SecretStore {
        guard let store = base as? any SecretStore else {
            throw VaultError(.invalid, "The store that this scope belongs to cannot keep secrets in guarded memory.")
        }
        return store
    }
}
