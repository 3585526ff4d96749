public import FoundationEssentials
import LinuxSystem

/// A key whose value is in the keychain, encrypted in the vault file. Apart from that, it works like ``Storable``.
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
    /// Calls `body` with the value's bytes in guarded memory, and then wipes them. Returns nil if there is no value.
    ///
    /// A string is passed as UTF-8. The span cannot escape the closure, but bytes copied from it are not guarded.
    ///
    /// - Throws: the same errors as ``ValueKey/read()-8f9bj`` and of `body`; ``VaultError`` with `invalid` if the key's
    ///   store cannot hold secrets in guarded memory.
    public func withSecret<Result>(_ body: (RawSpan) throws -> Result) throws -> Result? {
        try secretStore(for: .reading).withSecret(name, body)
    }

    /// Sets the value's bytes from guarded memory. They can be read as data, and as a string if they are UTF-8.
    ///
    /// - Throws: the same errors as ``ValueKey/write(_:)-5u2oi``; `invalid` if the key's store cannot hold secrets.
    public func write(secret: borrowing SecretBytes) throws(VaultError) {
        try secretStore(for: .writing).set(name, to: secret, expires: nil, forgetting: false)
    }

    func secretStore(for use: KeyUse) throws(VaultError) -> any SecretStore {
        guard let store = try resolved() as? any SecretStore else {
            throw VaultError(.invalid, "The store of \"\(name)\" cannot hold secrets in guarded memory.")
        }
        try finishMove(into: store, for: use)
        if use == .writing { try store.checkChange(of: name) }
        return store
    }

    /// Sets a value that expires at `date`. After that, the value is absent, as if it had been removed. A later write
    /// without a date, or a move to another store, cancels the expiry. Observers are not notified when a value expires.
    ///
    /// - Throws: the same errors as ``ValueKey/write(_:)-5u2oi``; `invalid` if the key's store cannot hold secrets.
    public func write(_ value: Value, expires date: Date) throws(VaultError) {
        let stored = try value.storedValue(for: name)
        try secretStore(for: .writing).set(name, to: stored, expires: date, forgetting: false)
    }

    /// Sets the value's bytes from guarded memory, as ``write(secret:)`` does. The value expires at `date`.
    ///
    /// - Throws: the same errors as ``write(secret:)``.
    public func write(secret: borrowing SecretBytes, expires date: Date) throws(VaultError) {
        try secretStore(for: .writing).set(name, to: secret, expires: date, forgetting: false)
    }
}

extension KeychainStorable where Value: Sendable {
    /// Sets a value that expires at `date`, without blocking the calling task's thread.
    public func write(_ value: Value, expires date: Date) async throws(VaultError) {
        try await onBlockingThread { () throws(VaultError) in try write(value, expires: date) }
    }
}

extension DefaultedKey {
    /// Sets a value that expires at `date`. After that, reading returns the default.
    ///
    /// - Throws: the errors of the same method of ``KeychainStorable``.
    public func write<Kept>(_ value: Kept, expires date: Date) throws(VaultError) where Key == KeychainStorable<Kept> {
        try key.write(value, expires: date)
    }
}

/// A property whose value is in the keychain. It wraps a ``KeychainStorable`` key, as ``Stored`` wraps other keys.
@propertyWrapper
public struct KeychainStored<Key: ValueKey> {
    /// The key.
    public let projectedValue: Key

    /// The value.
    public var wrappedValue: Key.Reading {
        get { projectedValue.value }
        nonmutating set { projectedValue.setReporting(newValue) }
    }

    /// Creates an optional property. It is nil if there is no value, and setting nil removes the value.
    public init<Value>(
        _ name: String, in store: StoreReference = .keychain, movedFrom oldStore: StoreReference? = nil,
        formerName: String? = nil
    ) where Key == KeychainStorable<Value> {
        projectedValue = KeychainStorable(name, in: store, movedFrom: oldStore, formerName: formerName)
    }

    /// Creates a property with a default.
    public init<Value>(
        _ name: String, default defaultValue: Value, in store: StoreReference = .keychain,
        movedFrom oldStore: StoreReference? = nil, formerName: String? = nil
    ) where Key == DefaultedKey<KeychainStorable<Value>> {
        projectedValue = KeychainStorable(name, in: store, movedFrom: oldStore, formerName: formerName)
            .defaulting(to: defaultValue)
    }
}

extension KeychainStored: Sendable where Key: Sendable {}

extension KeychainStored: Redacted { public var description: String { described(Self.self, projectedValue.name) } }
