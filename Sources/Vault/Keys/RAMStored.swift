/// A property whose value lies in memory: ``RAMStorable`` as a property wrapper.
///
/// ```swift
/// @RAMStored("u.draft") var draft: String?
/// @RAMStored("u.zoom", default: 1.0) var zoom: Double
/// ```
///
/// `$name` is the key, with the calls that throw. What is said of failures at ``StoredKeyed/value`` holds here too; where there is
/// a default, a failed read gives it.
@propertyWrapper
public struct RAMStored<Wrapped, Value: StoredObject> {
    /// The key.
    public let projectedValue: RAMStorable<Value>
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
        projectedValue = RAMStorable(key: key, in: store, movedFrom: oldHome)
        wrap = { $0 }
        unwrap = { $0 }
    }

    /// A property with a default.
    public init(
        _ key: String, default defaultValue: Value, in store: (any ValueStore)? = nil,
        movedFrom oldHome: StoreReference? = nil
    ) where Wrapped == Value, Value: Sendable {
        projectedValue = RAMStorable(key: key, default: defaultValue, in: store, movedFrom: oldHome)
        wrap = { $0 ?? defaultValue }
        unwrap = { .some($0) }
    }
}

extension RAMStored: Sendable where Value: Sendable {}
