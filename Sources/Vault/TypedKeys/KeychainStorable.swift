public import Sealing

/// A value in the keychain: encrypted in the vault file. Otherwise as ``Storable``.
public struct KeychainStorable<Value: StoredObject>: StandardKey {
    public static var standardStore: StoreReference { .keychain }

    public let name: String
    public let store: StoreReference

    public init(_ name: String, in store: StoreReference) {
        self.name = name
        self.store = store
    }
}

extension KeychainStorable: Sendable where Value: Sendable {}

extension KeychainStorable {
    /// Reads the value's bytes in place, in guarded memory that is wiped afterwards; nil if there is no value.
    ///
    /// For a string these are its UTF-8. The span cannot leave the closure; copying its bytes leaves guarded memory.
    ///
    /// - Throws: ``VaultError`` as ``ValueKey/read()-8f9bj``, `invalid` if the key's store keeps no secrets; what
    ///   `body` throws.
    public func withSecret<Result>(_ body: (RawSpan) throws -> Result) throws -> Result? {
        try secretStore(for: .reading).withSecret(name, body)
    }

    /// Sets the value's bytes from guarded memory. They can be read as a string, if they are UTF-8, and as data.
    ///
    /// - Throws: ``VaultError`` as ``ValueKey/write(_:)-5u2oi``, `invalid` if the key's store keeps no secrets.
    public func write(secret: borrowing SecretBytes) throws(VaultError) {
        try secretStore(for: .writing).set(name, to: secret, expires: nil, forgetting: false)
    }

    func secretStore(for use: KeyUse) throws(VaultError) -> any SecretStore {
        guard let store = try resolved() as? any SecretStore else {
            throw VaultError(.invalid, "The store of \"\(name)\" keeps no secrets in guarded memory.")
        }
        try finishMove(into: store, for: use)
        if use == .writing { try store.checkChange(of: name) }
        return store
    }
}
