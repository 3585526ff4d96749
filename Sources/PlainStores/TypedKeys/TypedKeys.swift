/// A key whose type determines its standard store: ``Storable``, ``KeychainStorable`` or ``RAMStorable``.
public protocol StandardKey<Value>: ValueKey, ExpressibleByStringLiteral where Reading == Value? {
    /// The store of keys that are created without a store argument.
    static var standardStore: StoreReference { get }

    /// Creates a key.
    init(_ name: String, in store: StoreReference)
}

extension StandardKey {
    /// Creates a key.
    ///
    /// - Parameters:
    ///   - name: the key's name.
    ///   - store: the key's store, if it is not the standard one.
    ///   - oldStore: the store that held the value before. The first use moves the value (see <doc:MovingValues>).
    ///   - formerName: the value's former name, if it was different. The first use renames the value.
    public init(
        _ name: String, in store: StoreReference = Self.standardStore, movedFrom oldStore: StoreReference? = nil,
        formerName: String? = nil
    ) {
        self.init(name, in: store.with(KeyHistory(oldStore: oldStore?.resolve, oldName: formerName)))
    }

    /// Creates a key whose name is the raw value of a case, for programs that list their keys in an enum.
    public init(
        _ name: some RawRepresentable<String>, in store: StoreReference = Self.standardStore,
        movedFrom oldStore: StoreReference? = nil, formerName: String? = nil
    ) {
        self.init(name.rawValue, in: store, movedFrom: oldStore, formerName: formerName)
    }

    /// Creates a key in the standard store.
    public init(stringLiteral name: String) { self.init(name) }

    /// Returns a copy of this key that can also read a value of the type `Earlier`. Reading converts that value, but
    /// leaves the stored value unchanged until the next write.
    ///
    /// - Parameter conversion: converts a value of the earlier type; returns nil to refuse it.
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

    /// Returns a copy of this key with a default, so that its value is not optional.
    public func defaulting(to defaultValue: Value) -> DefaultedKey<Self> {
        DefaultedKey(key: self, defaultValue: defaultValue)
    }
}

/// A key for a value in the preferences, which any plist tool can read. Don't use it for secrets.
///
/// ```swift
/// var upgradeAlertIgnored: Storable<Bool> = "u.upgradeIgnored"  // plist
/// ```
///
/// Prefer throwing methods such as ``ValueKey/read()-8f9bj`` and ``ValueKey/write(_:)-5u2oi`` (<doc:GettingStarted>).
public struct Storable<Value: StoredObject>: StandardKey {
    public static var standardStore: StoreReference { .preferences }

    public let name: String
    public let store: StoreReference

    public init(_ name: String, in store: StoreReference) { (self.name, self.store) = (name, store) }
}

/// A key for a value in memory, which is lost when the process exits. Otherwise, it works like ``Storable``.
public struct RAMStorable<Value: StoredObject>: StandardKey {
    public static var standardStore: StoreReference { .memory }

    public let name: String
    public let store: StoreReference

    public init(_ name: String, in store: StoreReference) { (self.name, self.store) = (name, store) }
}

/// A key with a default, which is returned if there is no value. The result is therefore not optional.
///
/// ```swift
/// let launches = Storable("launches").defaulting(to: 0)
/// try launches.update { $0 += 1 }
/// ```
public struct DefaultedKey<Key: StandardKey>: ValueKey {
    public typealias Value = Key.Value
    public typealias Reading = Key.Value

    package let key: Key
    /// The default, returned if the store has no value.
    public let defaultValue: Value

    public var name: String { key.name }
    public var store: StoreReference { key.store }
    public var description: String { key.description }

    public func reading(_ value: Value?) -> Value { value ?? defaultValue }
    public static func value(of reading: Value) -> Value? { reading }
}

extension Storable: Sendable where Value: Sendable {}
extension RAMStorable: Sendable where Value: Sendable {}
extension DefaultedKey: Sendable where Key: Sendable, Key.Value: Sendable {}
