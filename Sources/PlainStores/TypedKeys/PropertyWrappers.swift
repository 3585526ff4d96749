/// A property whose value is kept in the preferences: ``Storable`` as a property wrapper.
///
/// ```swift
/// @Stored("s.nickname") var nickname: String?
/// @Stored("s.launches", default: 0) var launches: Int
/// ```
///
/// `$name` is the key, with the calls that throw. Failures are reported as with ``ValueKey/value``; a failed read
/// returns the default, if any.
@propertyWrapper
public struct Stored<Key: ValueKey> {
    /// The key.
    public let projectedValue: Key

    /// The value.
    public var wrappedValue: Key.Reading {
        get { projectedValue.value }
        nonmutating set { projectedValue.setReporting(newValue) }
    }

    /// Creates an optional property: nil if there is no value; setting nil removes it.
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

/// A property whose value is kept in memory: ``RAMStorable`` as a property wrapper. It works like ``Stored``.
@propertyWrapper
public struct RAMStored<Key: ValueKey> {
    /// The key.
    public let projectedValue: Key

    /// The value.
    public var wrappedValue: Key.Reading {
        get { projectedValue.value }
        nonmutating set { projectedValue.setReporting(newValue) }
    }

    /// Creates an optional property: nil if there is no value; setting nil removes it.
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

// MARK: - Conformances

extension Stored: Sendable where Key: Sendable {}
extension RAMStored: Sendable where Key: Sendable {}

extension Stored: Redacted { public var description: String { described(Self.self, projectedValue.name) } }

extension RAMStored: Redacted { public var description: String { described(Self.self, projectedValue.name) } }
