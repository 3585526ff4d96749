public import Sealing

/// A store whose values can be read and written without leaving guarded memory.
protocol SecretStore: ValueStore {
    func withSecret<Result>(_ name: String, _ body: (RawSpan) throws -> Result) throws -> Result?
    func setSecret(_ name: String, to value: borrowing SecretBytes) throws(VaultError)
}

extension Keychain: SecretStore {
    func setSecret(_ name: String, to value: borrowing SecretBytes) throws(VaultError) {
        try set(name, to: value)
    }
}

extension KeychainStorable {
    /// Reads the value's bytes in place, in guarded memory that is wiped afterwards; nil if there is no value.
    ///
    /// For a string these are its UTF-8, for data its bytes. The span cannot leave the closure; copying out of it leaves guarded memory.
    ///
    /// - Throws: ``VaultError`` as ``StoredKeyed/read()``, `invalid` if the key's store keeps no secrets; what `body` throws.
    public func withSecret<Result>(_ body: (RawSpan) throws -> Result) throws -> Result? {
        let store = try secretStore()
        try stored.finishMove()
        return try store.withSecret(stored.name, body)
    }

    /// Sets the value's bytes from guarded memory. They can be read as a string, if they are UTF-8, and as data.
    ///
    /// - Throws: ``VaultError`` as ``StoredKeyed/write(_:)``, `invalid` if the key's store keeps no secrets.
    public func write(secret: borrowing SecretBytes) throws(VaultError) {
        let store = try secretStore()
        try stored.finishMove(for: .writing)
        try store.setSecret(stored.name, to: secret)
    }

    private func secretStore() throws(VaultError) -> any SecretStore {
        guard let store = try stored.store() as? any SecretStore else {
            throw VaultError(.invalid, "The store of \"\(stored.name)\" keeps no secrets in guarded memory.")
        }
        return store
    }
}
