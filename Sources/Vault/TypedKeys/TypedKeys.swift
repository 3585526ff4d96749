public import Sealing

/// A value in the preferences: plain, readable by any plist tool. Nothing secret.
///
/// ```swift
/// var upgradeAlertIgnored: Storable<Bool> = "u.upgradeIgnored"
/// ```
///
/// Prefer the calls that throw, such as ``StoredKeyed/read()`` and ``StoredKeyed/write(_:)``: see <doc:GettingStarted>.
public struct Storable<Value: StoredObject>: StoredKeyed, ExpressibleByStringLiteral {
    public let stored: StoredKey<Value>

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - key: the key's name.
    ///   - defaultValue: what reading returns if there is no value.
    ///   - store: a store instead of ``Preferences/standard``, such as a user's own.
    ///   - oldHome: the store that kept the value before. The first use moves it: see <doc:MovingValues>.
    public init(
        key: String, default defaultValue: Value? = nil, in store: (any ValueStore)? = nil,
        movedFrom oldHome: StoreReference? = nil
    ) {
        stored = StoredKey(key, default: defaultValue, in: .given(store, or: .preferences), movedFrom: oldHome)
    }

    /// Creates a key without a default in the standard store.
    public init(stringLiteral key: String) { self.init(key: key) }
}

/// A value in the keychain: encrypted in the vault file. Otherwise as ``Storable``.
public struct KeychainStorable<Value: StoredObject>: StoredKeyed, ExpressibleByStringLiteral {
    public let stored: StoredKey<Value>

    /// Creates a key; without `store` it is one of ``Keychain/standard``. For the parameters see
    /// ``Storable/init(key:default:in:movedFrom:)``.
    public init(
        key: String, default defaultValue: Value? = nil, in store: (any ValueStore)? = nil,
        movedFrom oldHome: StoreReference? = nil
    ) {
        stored = StoredKey(key, default: defaultValue, in: .given(store, or: .keychain), movedFrom: oldHome)
    }

    /// Creates a key without a default in the standard store.
    public init(stringLiteral key: String) { self.init(key: key) }

    /// Reads the value's bytes in place, in guarded memory that is wiped afterwards; nil if there is no value.
    ///
    /// For a string these are its UTF-8. The span cannot leave the closure; copying its bytes leaves guarded memory.
    ///
    /// - Throws: ``VaultError`` as ``StoredKeyed/read()``, `invalid` if the key's store keeps no secrets; what `body`
    ///   throws.
    public func withSecret<Result>(_ body: (RawSpan) throws -> Result) throws -> Result? {
        try secretStore(for: .reading).withSecret(stored.name, body)
    }

    /// Sets the value's bytes from guarded memory. They can be read as a string, if they are UTF-8, and as data.
    ///
    /// - Throws: ``VaultError`` as ``StoredKeyed/write(_:)``, `invalid` if the key's store keeps no secrets.
    public func write(secret: borrowing SecretBytes) throws(VaultError) {
        try secretStore(for: .writing).set(stored.name, to: secret, attributes: nil)
    }

    private func secretStore(for use: KeyUse) throws(VaultError) -> any SecretStore {
        guard let store = try stored.store() as? any SecretStore else {
            throw VaultError(.invalid, "The store of \"\(stored.name)\" keeps no secrets in guarded memory.")
        }
        try stored.finishMove(into: store, for: use)
        return store
    }
}

/// A value in memory, lost when the process ends. Otherwise as ``Storable``.
public struct RAMStorable<Value: StoredObject>: StoredKeyed, ExpressibleByStringLiteral {
    public let stored: StoredKey<Value>

    /// Creates a key; without `store` it is one of ``MemoryStore/standard``. For the parameters see
    /// ``Storable/init(key:default:in:movedFrom:)``.
    public init(
        key: String, default defaultValue: Value? = nil, in store: (any ValueStore)? = nil,
        movedFrom oldHome: StoreReference? = nil
    ) {
        stored = StoredKey(key, default: defaultValue, in: .given(store, or: .memory), movedFrom: oldHome)
    }

    /// Creates a key without a default in the standard store.
    public init(stringLiteral key: String) { self.init(key: key) }
}

extension StoreReference {
    /// Returns a reference to a store at hand, if there is one, or else to a standard one.
    static func given(_ store: (any ValueStore)?, or standard: StoreReference) -> StoreReference {
        store.map { .store($0) } ?? standard
    }
}

// MARK: - Conformances

extension Storable: Sendable where Value: Sendable {}
extension KeychainStorable: Sendable where Value: Sendable {}
extension RAMStorable: Sendable where Value: Sendable {}

extension Storable: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}
extension KeychainStorable: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}
extension RAMStorable: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}
