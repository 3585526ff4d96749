/// A property whose value lies in the keychain: ``KeychainStorable`` as a property wrapper.
///
/// ```swift
/// @KeychainStored("u.token") var token: String?
/// @KeychainStored("u.attempts", default: 0) var attempts: Int
/// ```
///
/// `$name` is the key, with the calls that throw. What is said of failures at ``StoredKeyed/value`` holds here too; where there is
/// a default, a failed read gives it.
@propertyWrapper
public struct KeychainStored<Wrapped, Value: StoredObject> {
    /// The key.
    public let projectedValue: KeychainStorable<Value>
    private let wrap: @Sendable (Value?) -> Wrapped
    private let unwrap: @Sendable (Wrapped) -> Value?

    /// The value.
    public var wrappedValue: Wrapped {
        get { wrap(projectedValue.valueReporting()) }
        nonmutating set { projectedValue.setReporting(unwrap(newValue)) }
    }

    /// An optional property: nil where there is no value; setting nil removes it.
    public init(
        _ key: String, in store: (any ValueStore)? = nil, movedFrom oldHome: StoreReference? = nil
    ) where Wrapped == Value? {
        projectedValue = KeychainStorable(key: key, in: store, movedFrom: oldHome)
        wrap = { $0 }
        unwrap = { $0 }
    }

    /// A property with a default.
    public init(
        _ key: String, default defaultValue: Value, in store: (any ValueStore)? = nil,
        movedFrom oldHome: StoreReference? = nil
    ) where Wrapped == Value, Value: Sendable {
        projectedValue = KeychainStorable(key: key, default: defaultValue, in: store, movedFrom: oldHome)
        wrap = { $0 ?? defaultValue }
        unwrap = { .some($0) }
    }
}

extension KeychainStored: Sendable where Value: Sendable {}
