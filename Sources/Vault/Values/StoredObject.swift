/// A type whose values can be stored: as a primitive, and back.
///
/// ```swift
/// extension Angle: StoredObject {
///     func toPrimitive() -> Double? { degrees }
///     static func from(primitive: Double) -> Angle? { Angle(degrees: primitive) }
/// }
/// ```
///
/// An enum with a raw value needs no more than the conformance: `enum Theme: String, StoredObject`. For a Codable type
/// conform to ``StoredAsCodable`` instead.
public protocol StoredObject: SendableMetatype {
    /// The type that is stored.
    associatedtype Primitive: StorablePrimitive

    /// The primitive to store. nil refuses: an error with ``VaultError/Code/invalid``, never a removal.
    func toPrimitive() -> Primitive?

    /// The value of a primitive. nil refuses: an error with ``VaultError/Code/unreadable``; the value stays stored.
    static func from(primitive: Primitive) -> Self?
}

/// A type that is its own primitive.
public protocol StoredAsSelf: StoredObject, StorablePrimitive where Primitive == Self {}

extension StoredAsSelf {
    /// The value itself.
    public func toPrimitive() -> Self? { self }
    /// The primitive itself.
    public static func from(primitive: Self) -> Self? { primitive }
}

extension StoredObject where Self: RawRepresentable, RawValue: StorablePrimitive {
    /// The raw value.
    public func toPrimitive() -> RawValue? { rawValue }
    /// The value with this raw value; nil if there is none.
    public static func from(primitive: RawValue) -> Self? { Self(rawValue: primitive) }
}
