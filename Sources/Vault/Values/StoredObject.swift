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

// MARK: - Conversion

// Converts between the types of a program and what stores keep, and explains failures.

extension StoredObject {
    /// - Throws: ``VaultError/Code/invalid`` if the value refuses to be stored.
    func storedValue(for key: String) throws(VaultError) -> StoredValue {
        guard let primitive = toPrimitive() else {
            throw VaultError(unstorable: failureStoring() ?? ConversionFailure(.refused), for: key, Self.self)
        }
        return primitive.stored
    }

    /// - Throws: ``VaultError/Code/wrongType`` if the stored value is of another type; ``VaultError/Code/unreadable``
    ///   if it is of the right one, but out of its bounds or refused, or if that applies to something in it.
    init(stored: StoredValue, of key: String) throws(VaultError) {
        guard let primitive = Primitive(stored: stored), let value = Self.from(primitive: primitive) else {
            let failure = Self.failure(reading: stored) ?? ConversionFailure(.refused)
            throw VaultError(unreadable: failure, of: key, as: Self.self, stored)
        }
        self = value
    }
}

// Conversions return nil when they fail. To find the location of a failure, these repeat a failed conversion: those
// that succeed need not carry a path along.

extension StoredObject {
    /// Returns why `stored` cannot be read as this type; nil if it can.
    fileprivate static func failure(reading stored: StoredValue) -> ConversionFailure? {
        if let type = Self.self as? any StoredAsCodable.Type {
            do { _ = try stored.decoded(as: type) } catch { return ConversionFailure(error) }
            return nil
        }
        if let type = Self.self as? any StoredContainer.Type, let failure = type.contentFailure(reading: stored) {
            return failure
        }
        guard let primitive = Primitive(stored: stored) else {
            return ConversionFailure(
                stored.typeName == Primitive.typeName
                    ? .outOfBounds(stored.typeName)
                    : .mismatch(expected: Primitive.typeName, found: stored.typeName))
        }
        return from(primitive: primitive) == nil ? ConversionFailure(.refused) : nil
    }

    /// Returns why the value cannot be stored; nil if it can.
    fileprivate func failureStoring() -> ConversionFailure? {
        if let value = self as? any StoredAsCodable {
            do { _ = try StoredValue(encoding: value) } catch { return ConversionFailure(error) }
            return nil
        }
        if let container = self as? any StoredContainer, let failure = container.contentFailureStoring() {
            return failure
        }
        return toPrimitive() == nil ? ConversionFailure(.refused) : nil
    }
}

/// A type whose values hold others, each of which can fail to convert.
private protocol StoredContainer {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure?
    func contentFailureStoring() -> ConversionFailure?
}

extension Array: StoredContainer where Element: StoredObject {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure? {
        guard case .array(let values) = stored else { return nil }
        for (index, value) in values.enumerated() {
            if let failure = Element.failure(reading: value) { return failure.inside(String(index)) }
        }
        return nil
    }

    func contentFailureStoring() -> ConversionFailure? {
        for (index, element) in enumerated() {
            if let failure = element.failureStoring() { return failure.inside(String(index)) }
        }
        return nil
    }
}

extension Dictionary: StoredContainer where Key == String, Value: StoredObject {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure? {
        guard case .dictionary(let values) = stored else { return nil }
        return values.values.lazy.compactMap(Value.failure(reading:)).first?.inside(ConversionFailure.hiddenKey)
    }

    func contentFailureStoring() -> ConversionFailure? {
        values.lazy.compactMap { $0.failureStoring() }.first?.inside(ConversionFailure.hiddenKey)
    }
}

extension Optional: StoredContainer where Wrapped: StoredObject {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure? {
        if case .null = stored { nil } else { Wrapped.failure(reading: stored) }
    }

    func contentFailureStoring() -> ConversionFailure? {
        self?.failureStoring()
    }
}
