/// A name in a store, with the type of its value: ``Storable``, ``KeychainStorable``, ``RAMStorable``, and a
/// ``DefaultedKey`` of one of these.
public protocol ValueKey<Value, Reading>: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type of the value.
    associatedtype Value: StoredObject
    /// What reading returns: `Value?`, or `Value` for a key with a default.
    associatedtype Reading = Value?

    /// The key's name in its store.
    var name: String { get }
    /// The key's store, which is looked up at each use.
    var store: StoreReference { get }

    /// Returns what reading returns for a value, or for none.
    func reading(_ value: Value?) -> Reading
    /// Returns the value to store for what was read and then changed; nil to remove it.
    static func value(of reading: Reading) -> Value?
}

extension ValueKey where Reading == Value? {
    /// Returns the value itself.
    public func reading(_ value: Value?) -> Value? { value }
    /// Returns what was read itself.
    public static func value(of reading: Value?) -> Value? { reading }
}

// MARK: - Redaction

extension ValueKey {
    /// The type's name and the key's, never a value or default: `KeychainStorable("u.token")`.
    public var description: String { described(Self.self, name) }
    /// The description.
    public var debugDescription: String { description }
    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
