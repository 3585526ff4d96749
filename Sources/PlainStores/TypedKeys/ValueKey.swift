/// A name in a store and the type of its value. Keys are ``Storable``, ``KeychainStorable``, ``RAMStorable``, and a
/// ``DefaultedKey`` of one of these.
public protocol ValueKey<Value, Reading>: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type of the value.
    associatedtype Value: StoredObject
    /// The result of reading: `Value?`, or `Value` for a key with a default.
    associatedtype Reading = Value?

    /// The key's name in its store.
    var name: String { get }
    /// A reference to the key's store. Each use looks up the store.
    var store: StoreReference { get }

    /// Converts a value, or its absence, to the result of reading.
    func reading(_ value: Value?) -> Reading
    /// Converts a result of reading, possibly changed, to the value to store; nil to remove the value.
    static func value(of reading: Reading) -> Value?
}

extension ValueKey where Reading == Value? {
    /// Returns the value itself.
    public func reading(_ value: Value?) -> Value? { value }
    /// Returns the result of reading itself.
    public static func value(of reading: Value?) -> Value? { reading }
}

// MARK: - Redaction

extension ValueKey {
    /// The names of the type and the key, without any value or default: `KeychainStorable("u.token")`.
    public var description: String { described(Self.self, name) }
    /// The description.
    public var debugDescription: String { description }
    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
