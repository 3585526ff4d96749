/// A key of a standard store, which its type determines: ``Storable``, ``KeychainStorable`` or ``RAMStorable``.
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

    /// Returns the same key for a value that may still be of an earlier type. The conversion is applied when it is
    /// read, and the stored value stays unchanged until the next write.
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
/// Prefer the calls that throw, such as ``ValueKey/read()-8f9bj`` and ``ValueKey/write(_:)-5u2oi``: see
/// <doc:GettingStarted>.
public struct Storable<Value: StoredObject>: StandardKey {
    public static var standardStore: StoreReference { .preferences }

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

    package let key: Key
    /// The value that reading returns if there is none in the store.
    public let defaultValue: Value

    public var name: String { key.name }
    public var store: StoreReference { key.store }
    public var description: String { key.description }

    public func reading(_ value: Value?) -> Value { value ?? defaultValue }
    public static func value(of reading: Value) -> Value? { reading }
}

// MARK: - Conformances

extension Storable: Sendable where Value: Sendable {}
extension RAMStorable: Sendable where Value: Sendable {}
extension DefaultedKey: Sendable where Key: Sendable, Key.Value: Sendable {}
