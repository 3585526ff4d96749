/// A property wrapper for a ``Storable`` key, whose value is stored in the preferences.
///
/// ```swift
/// @Stored("s.nickname") var nickname: String?
/// @Stored("s.launches", default: 0) var launches: Int
/// ```
///
/// The key itself, `$nickname`, has methods that throw. The property reports failures as ``ValueKey/value`` does. After
/// a failed read, it returns the default, or nil if there is none.
@propertyWrapper
public struct Stored<Key: ValueKey> {
    /// The key that the property reads and writes.
    public let projectedValue: Key

    /// The key's value.
    public var wrappedValue: Key.Reading {
        get { projectedValue.value }
        nonmutating set { projectedValue.setReporting(newValue) }
    }

    /// Creates an optional property, which is nil if there is no value. Setting it to nil removes the value.
    public init<Value>(
        _ name: String, in store: StoreReference = .preferences, movedFrom oldStore: StoreReference? = nil,
        formerName: String? = nil
    ) where Key == Storable<Value> {
        projectedValue = Storable(name, in: store, movedFrom: oldStore, formerName: formerName)
    }

    /// Creates a property with a default.
    public init<Value>(
        _ name: String, default defaultValue: Value, in store: StoreReference = .preferences,
        movedFrom oldStore: StoreReference? = nil, formerName: String? = nil
    ) where Key == DefaultedKey<Storable<Value>> {
        projectedValue = Storable(name, in: store, movedFrom: oldStore, formerName: formerName)
            .defaulting(to: defaultValue)
    }
}

/// A property wrapper for a ``RAMStorable`` key, whose value is in memory. It works like ``Stored``.
@propertyWrapper
public struct RAMStored<Key: ValueKey> {
    /// The key that the property reads and writes.
    public let projectedValue: Key

    /// The key's value.
    public var wrappedValue: Key.Reading {
        get { projectedValue.value }
        nonmutating set { projectedValue.setReporting(newValue) }
    }

    /// Creates an optional property, which is nil if there is no value. Setting it to nil removes the value.
    public init<Value>(
        _ name: String, in store: StoreReference = .memory, movedFrom oldStore: StoreReference? = nil,
        formerName: String? = nil
    ) where Key == RAMStorable<Value> {
        projectedValue = RAMStorable(name, in: store, movedFrom: oldStore, formerName: formerName)
    }

    /// Creates a property with a default.
    public init<Value>(
        _ name: String, default defaultValue: Value, in store: StoreReference = .memory,
        movedFrom oldStore: StoreReference? = nil, formerName: String? = nil
    ) where Key == DefaultedKey<RAMStorable<Value>> {
        projectedValue = RAMStorable(name, in: store, movedFrom: oldStore, formerName: formerName)
            .defaulting(to: defaultValue)
    }
}

extension Stored: Sendable where Key: Sendable {}
extension RAMStored: Sendable where Key: Sendable {}

extension Stored: Redacted { public var description: String { described(Self.self, projectedValue.name) } }

extension RAMStored: Redacted { public var description: String { described(Self.self, projectedValue.name) } }
