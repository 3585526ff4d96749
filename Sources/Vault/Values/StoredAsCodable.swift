/// A Codable type that is stored field by field: one line of conformance, `extension Profile: StoredAsCodable {}`.
///
/// The fields become a dictionary of primitives, real plist types in the preferences: `Data`, `Date`, `URL` and `UUID` are stored
/// as the primitives that they are. A type that gains or loses optional fields keeps reading what an older version wrote, as
/// Codable has it. Reading is as strict as everywhere: no number is made of a string. nil is stored where the type's code encodes
/// it, as in an array; a field that is nil is left out.
///
/// An error says where in the value it lies, such as `points.3.x`. Of the names on the way it shows those that types declare
/// (the cases of `CodingKeys`); other keys, such as those of a dictionary, are part of the value: `users.*.age`.
///
/// An enum with a raw value that is Codable as well, `enum Mode: String, Codable, StoredAsCodable`, is stored by its raw value.
/// Values nest at most 511 levels deep. The coders' `userInfo` is empty.
public protocol StoredAsCodable: StoredObject, Codable where Primitive == StoredValue {}

extension StoredAsCodable {
    /// The value as its `encode(to:)` has it; nil if that throws.
    public func toPrimitive() -> StoredValue? {
        try? StoredValue(encoding: self)
    }

    /// The value as its `init(from:)` makes it; nil if that throws.
    public static func from(primitive: StoredValue) -> Self? {
        try? primitive.decoded(as: Self.self)
    }
}
