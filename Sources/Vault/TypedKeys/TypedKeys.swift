public import Sealing

/// A key of a standard store, as its type's name chooses it: ``Storable``, ``KeychainStorable`` or ``RAMStorable``.
public protocol StandardKey<Value>: ValueKey, ExpressibleByStringLiteral where Reading == Value? {
    /// The store of keys that are created without one.
    static var standardStore: StoreReference { get }

    /// Creates a key.
    init(_ name: String, in store: StoreReference)
}

extension StandardKey {
    /// Creates a key.
    ///
    /// - Parameters:
    ///   - name: the key's name.
    ///   - store: another store than the standard one, such as a user's own.
    ///   - oldStore: the store that had the value before. The first use moves it: see <doc:MovingValues>.
    ///   - formerName: the value's name before, if it was another one. The first use renames it.
    public init(
        _ name: String, in store: StoreReference = Self.standardStore, movedFrom oldStore: StoreReference? = nil,
        formerName: String? = nil
    ) {
        self.init(name, in: store.with(KeyHistory(oldStore: oldStore?.resolve, oldName: formerName)))
    }

    /// Creates a key whose name is the raw value of a case: for programs that list their keys in an enum.
    public init(
        _ name: some RawRepresentable<String>, in store: StoreReference = Self.standardStore,
        movedFrom oldStore: StoreReference? = nil, formerName: String? = nil
    ) {
        self.init(name.rawValue, in: store, movedFrom: oldStore, formerName: formerName)
    }

    /// Creates a key in the standard store.
    public init(stringLiteral name: String) { self.init(name) }

    /// Returns the same key for a value that may still be of an earlier type: it is read by the conversion, and stays
    /// as it is until the next write.
    ///
    /// - Parameter conversion: returns nil for a value that it refuses.
    public func migrating<Earlier: StoredObject>(
        from earlier: Earlier.Type, _ conversion: @escaping @Sendable (Earlier) -> Value?
    ) -> Self {
        var history = store.history
        let others = history.conversion
        history.conversion = { [name] stored in
            guard let value = try? Earlier(stored: stored, of: name) else { return others?(stored) }
            return try? conversion(value)?.storedValue(for: name)
        }
        return Self(name, in: store.with(history))
    }

    /// Returns the same key with a default: its value is not optional.
    public func defaulting(to defaultValue: Value) -> DefaultedKey<Self> {
        DefaultedKey(key: self, defaultValue: defaultValue)
    }
}

/// A value in the preferences: plain, readable by any plist tool. Nothing secret.
///
/// ```swift
/// var upgradeAlertIgnored: Storable<Bool> = "u.upgradeIgnored"  // plist
/// ```
///
/// Prefer the calls that throw, such as ``ValueKey/read()-45xab`` and ``ValueKey/write(_:)-7eths``: see
/// <doc:GettingStarted>.
public struct Storable<Value: StoredObject>: StandardKey {
    public static var standardStore: StoreReference { .preferences }

    public let name: String
    public let store: StoreReference

    public init(_ name: String, in store: StoreReference) { (self.name, self.store) = (name, store) }
}

/// A value in the keychain: encrypted in the vault file. Otherwise as ``Storable``.
public struct KeychainStorable<Value: StoredObject>: StandardKey {
    public static var standardStore: StoreReference { .keychain }

    public let name: String
    public let store: StoreReference

    public init(_ name: String, in store: StoreReference) { (self.name, self.store) = (name, store) }
}

/// A value in memory, lost when the process ends. Otherwise as ``Storable``.
public struct RAMStorable<Value: StoredObject>: StandardKey {
    public static var standardStore: StoreReference { .memory }

    public let name: String
    public let store: StoreReference

    public init(_ name: String, in store: StoreReference) { (self.name, self.store) = (name, store) }
}

/// A key with a default: reading returns it if there is no value, so the value is not optional.
///
/// ```swift
/// let launches = Storable("launches").defaulting(to: 0)
/// try launches.update { $0 += 1 }
/// ```
public struct DefaultedKey<Key: StandardKey>: ValueKey {
    public typealias Value = Key.Value
    public typealias Reading = Key.Value

    let key: Key
    /// What reading returns if there is no value.
    public let defaultValue: Value

    public var name: String { key.name }
    public var store: StoreReference { key.store }
    public var description: String { key.description }

    public func reading(_ value: Value?) -> Value { value ?? defaultValue }
    public static func value(of reading: Value) -> Value? { reading }
}

// MARK: - Secrets

extension KeychainStorable {
    /// Reads the value's bytes in place, in guarded memory that is wiped afterwards; nil if there is no value.
    ///
    /// For a string these are its UTF-8. The span cannot leave the closure; copying its bytes leaves guarded memory.
    ///
    /// - Throws: ``VaultError`` as ``ValueKey/read()-45xab``, `invalid` if the key's store keeps no secrets; what
    ///   `body` throws.
    public func withSecret<Result>(_ body: (RawSpan) throws -> Result) throws -> Result? {
        try secretStore(for: .reading).withSecret(name, body)
    }

    /// Sets the value's bytes from guarded memory. They can be read as a string, if they are UTF-8, and as data.
    ///
    /// - Throws: ``VaultError`` as ``ValueKey/write(_:)-7eths``, `invalid` if the key's store keeps no secrets.
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

// MARK: - Conformances

extension Storable: Sendable where Value: Sendable {}
extension KeychainStorable: Sendable where Value: Sendable {}
extension RAMStorable: Sendable where Value: Sendable {}
extension DefaultedKey: Sendable where Key: Sendable, Key.Value: Sendable {}
