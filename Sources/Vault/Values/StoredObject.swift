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

    /// Returns the primitive to store. nil refuses: an error with ``VaultError/Code/invalid``, never a removal.
    func toPrimitive() -> Primitive?

    /// Returns the value of a primitive. nil refuses: an error with ``VaultError/Code/unreadable``; the value stays
    /// stored.
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

/// A Codable type that is stored field by field: one line of conformance, `extension Profile: StoredAsCodable {}`.
///
/// The fields become a dictionary of primitives, real plist types in the preferences: `Data`, `Date`, `URL` and `UUID`
/// are stored as the primitives that they are. A type that gains or loses optional fields keeps reading what an older
/// version wrote, as always with Codable. Reading is as strict as everywhere: a string is never read as a number. nil
/// is stored if the type's code encodes it, as in an array; a field that is nil is left out.
///
/// An error names the location in the value, such as `points.3.x`. It shows only names that types declare (the cases of
/// `CodingKeys`); other keys, such as those of a dictionary, are part of the value: `users.*.age`.
///
/// An enum with a raw value that is Codable as well, `enum Mode: String, Codable, StoredAsCodable`, is stored by its
/// raw value. Values nest at most 511 levels deep. The coders' `userInfo` is empty.
public protocol StoredAsCodable: StoredObject, Codable where Primitive == StoredValue {}

extension StoredAsCodable {
    /// The value as its `encode(to:)` encodes it; nil if that throws.
    public func toPrimitive() -> StoredValue? {
        try? StoredValue(encoding: self)
    }

    /// The value as its `init(from:)` decodes it; nil if that throws.
    public static func from(primitive: StoredValue) -> Self? {
        try? primitive.decoded(as: Self.self)
    }
}
