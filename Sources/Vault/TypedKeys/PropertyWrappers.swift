/// A property whose value is kept in the preferences: ``Storable`` as a property wrapper.
///
/// ```swift
/// @Stored("u.nickname") var nickname: String?
/// @Stored("u.launches", default: 0) var launches: Int
/// ```
///
/// `$name` is the key, with the calls that throw. Failures are reported as with ``StoredKeyed/value``; a failed read
/// returns the default, if any.
@propertyWrapper
public struct Stored<Wrapped, Value: StoredObject> {
    /// The key.
    public let projectedValue: Storable<Value>
    private let form: WrappedForm<Wrapped, Value>

    /// The value.
    public var wrappedValue: Wrapped {
        get { form.wrap(projectedValue.value) }
        nonmutating set { projectedValue.setReporting(form.unwrap(newValue)) }
    }

    /// Creates an optional property: nil if there is no value; setting nil removes it.
    public init(_ key: String, in store: (any ValueStore)? = nil, movedFrom oldHome: StoreReference? = nil)
    where Wrapped == Value? {
        projectedValue = Storable(key: key, in: store, movedFrom: oldHome)
        form = WrappedForm(wrap: { $0 }, unwrap: { $0 })
    }

    /// Creates a property with a default.
    public init(
        _ key: String, default defaultValue: Value, in store: (any ValueStore)? = nil,
        movedFrom oldHome: StoreReference? = nil
    ) where Wrapped == Value, Value: Sendable {
        projectedValue = Storable(key: key, default: defaultValue, in: store, movedFrom: oldHome)
        form = WrappedForm(wrap: { $0 ?? defaultValue }, unwrap: { $0 })
    }
}

/// A property whose value is kept in the keychain: ``KeychainStorable`` as a property wrapper. Otherwise as ``Stored``.
@propertyWrapper
public struct KeychainStored<Wrapped, Value: StoredObject> {
    /// The key.
    public let projectedValue: KeychainStorable<Value>
    private let form: WrappedForm<Wrapped, Value>

    /// The value.
    public var wrappedValue: Wrapped {
        get { form.wrap(projectedValue.value) }
        nonmutating set { projectedValue.setReporting(form.unwrap(newValue)) }
    }

    /// Creates an optional property: nil if there is no value; setting nil removes it.
    public init(_ key: String, in store: (any ValueStore)? = nil, movedFrom oldHome: StoreReference? = nil)
    where Wrapped == Value? {
        projectedValue = KeychainStorable(key: key, in: store, movedFrom: oldHome)
        form = WrappedForm(wrap: { $0 }, unwrap: { $0 })
    }

    /// Creates a property with a default.
    public init(
        _ key: String, default defaultValue: Value, in store: (any ValueStore)? = nil,
        movedFrom oldHome: StoreReference? = nil
    ) where Wrapped == Value, Value: Sendable {
        projectedValue = KeychainStorable(key: key, default: defaultValue, in: store, movedFrom: oldHome)
        form = WrappedForm(wrap: { $0 ?? defaultValue }, unwrap: { $0 })
    }
}

/// A property whose value is kept in memory: ``RAMStorable`` as a property wrapper. Otherwise as ``Stored``.
@propertyWrapper
public struct RAMStored<Wrapped, Value: StoredObject> {
    /// The key.
    public let projectedValue: RAMStorable<Value>
    private let form: WrappedForm<Wrapped, Value>

    /// The value.
    public var wrappedValue: Wrapped {
        get { form.wrap(projectedValue.value) }
        nonmutating set { projectedValue.setReporting(form.unwrap(newValue)) }
    }

    /// Creates an optional property: nil if there is no value; setting nil removes it.
    public init(_ key: String, in store: (any ValueStore)? = nil, movedFrom oldHome: StoreReference? = nil)
    where Wrapped == Value? {
        projectedValue = RAMStorable(key: key, in: store, movedFrom: oldHome)
        form = WrappedForm(wrap: { $0 }, unwrap: { $0 })
    }

    /// Creates a property with a default.
    public init(
        _ key: String, default defaultValue: Value, in store: (any ValueStore)? = nil,
        movedFrom oldHome: StoreReference? = nil
    ) where Wrapped == Value, Value: Sendable {
        projectedValue = RAMStorable(key: key, default: defaultValue, in: store, movedFrom: oldHome)
        form = WrappedForm(wrap: { $0 ?? defaultValue }, unwrap: { $0 })
    }
}

/// Converts between a property and the key's value, which may be absent.
private struct WrappedForm<Wrapped, Value: StoredObject>: Sendable {
    let wrap: @Sendable (Value?) -> Wrapped
    let unwrap: @Sendable (Wrapped) -> Value?
}

// MARK: - Conformances

extension Stored: Sendable where Value: Sendable {}
extension KeychainStored: Sendable where Value: Sendable {}
extension RAMStored: Sendable where Value: Sendable {}

extension Stored: Redacted {
    public var description: String { described(Self.self, projectedValue.stored.name) }
}

extension KeychainStored: Redacted {
    public var description: String { described(Self.self, projectedValue.stored.name) }
}

extension RAMStored: Redacted {
    public var description: String { described(Self.self, projectedValue.stored.name) }
}
