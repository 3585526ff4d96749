/// A property whose value is kept in the keychain: ``KeychainStorable`` as a property wrapper. It works like
/// ``Stored``.
@propertyWrapper
public struct KeychainStored<Key: ValueKey> {
    /// The key.
    public let projectedValue: Key

    /// The value.
    public var wrappedValue: Key.Reading {
        get { projectedValue.value }
        nonmutating set { projectedValue.setReporting(newValue) }
    }

    /// Creates an optional property: nil if there is no value; setting nil removes it.
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

extension KeychainStored: Redacted {
    public var description: String { described(Self.self, projectedValue.name) }
}
