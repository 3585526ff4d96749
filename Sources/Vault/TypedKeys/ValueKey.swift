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
    /// What the key was in earlier versions of the program.
    var history: KeyHistory<Value> { get }

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

/// What a key was in earlier versions of a program: see <doc:MovingValues>.
public struct KeyHistory<Value: StoredObject> {
    /// The store that had the value; nil if it was the same one.
    let store: StoreReference?
    /// The value's name there; nil if it was the same one.
    let name: String?
    /// Converts a value of an earlier type; nil if it is of none.
    let conversion: (@Sendable (StoredValue) -> Value?)?

    /// Whether the value may be elsewhere.
    var isMoved: Bool { store != nil || name != nil }
}

// `conversion` is the only part that holds the type.
extension KeyHistory: Sendable {}

// MARK: - Redaction

extension ValueKey {
    /// The type's name and the key's, never a value or default: `KeychainStorable("u.token")`.
    public var description: String { described(Self.self, name) }
    /// The description.
    public var debugDescription: String { description }
    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
