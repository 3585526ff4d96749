public import FoundationEssentials
@_exported public import PropertyList

/// A type whose values have a ``StoredValue``, so that stores can keep them.
///
/// Bool, the integers, Float, Double, Decimal, String, Data, Date, URL, UUID, and arrays, string-keyed dictionaries and
/// optionals of these. Other types are stored as one of them, yours too: see ``StoredObject``.
public protocol StorablePrimitive: SendableMetatype {
    /// The type's name with its article, as errors show it: "an integer".
    static var typeName: String { get }
    /// The value in the form that stores keep.
    var stored: StoredValue { get }
    /// Converts from the form that stores keep; nil if it is of another type or out of this one's bounds.
    init?(stored: StoredValue)
}

/// A type whose values can be stored: as a primitive, and back.
///
/// ```swift
/// extension Angle: StoredObject {
///     func toPrimitive() -> Double? { degrees }
///     static func from(primitive: Double) -> Angle? { Angle(degrees: primitive) }
/// }
/// ```
///
/// An enum with a raw value needs no more than the conformance: `enum Theme: String, StoredObject`. A Codable type
/// conforms to ``StoredAsCodable`` instead.
///
/// Arrays, optionals, sets and ranges of such types are such types too, and so are dictionaries of them whose keys are
/// a ``DictionaryKey``. A set is stored as an array in an order of its own, a range as the array of its two bounds.
public protocol StoredObject: SendableMetatype {
    /// The type that is stored.
    associatedtype Primitive: StorablePrimitive

    /// Returns the primitive to store. nil refuses: an error with ``VaultError/Code/invalid``, never a removal.
    func toPrimitive() -> Primitive?
    /// Returns the value of a primitive. nil refuses: an error with ``VaultError/Code/unreadable``; it stays stored.
    static func from(primitive: Primitive) -> Self?
}

extension StoredObject {
    func storedValue(for key: String) throws(VaultError) -> StoredValue {
        if let primitive = toPrimitive() { return primitive.stored }
        throw VaultError(unstorable: failureStoring() ?? ConversionFailure(.refused), for: key, Self.self)
    }

    init(stored: StoredValue, of key: String) throws(VaultError) {
        guard let primitive = Primitive(stored: stored), let value = Self.from(primitive: primitive) else {
            let failure = Self.failure(reading: stored) ?? ConversionFailure(.refused)
            throw VaultError(unreadable: failure, of: key, as: Self.self, stored)
        }
        self = value
    }
}

extension StoredObject where Self: RawRepresentable, RawValue: StorablePrimitive {
    /// Returns the raw value.
    public func toPrimitive() -> RawValue? { rawValue }
    /// Returns the value with this raw value; nil if there is none.
    public static func from(primitive: RawValue) -> Self? { Self(rawValue: primitive) }
}

/// A Codable type that is stored field by field: one line of conformance, `extension Profile: StoredAsCodable {}`.
///
/// The fields become a dictionary of primitives, real plist types in the preferences. nil is stored if the type's code
/// encodes it, as in an array; a field that is nil is left out. For types that change see <doc:MovingValues>.
///
/// An error names the location in the value, such as `points.3.x`. It shows only names that types declare (the cases of
/// `CodingKeys`); other keys, such as those of a dictionary, are part of the value: `users.*.age`.
///
/// An enum with a raw value, `enum Mode: String, Codable, StoredAsCodable`, is stored by its raw value. Values nest at
/// most 511 levels deep. The coders' `userInfo` is empty.
public protocol StoredAsCodable: StoredObject, Codable where Primitive == StoredValue {}

extension StoredAsCodable {
    /// Returns the value as its `encode(to:)` encodes it; nil if that throws.
    public func toPrimitive() -> StoredValue? { try? StoredValue(encoding: self) }
    /// Returns the value as its `init(from:)` decodes it; nil if that throws.
    public static func from(primitive: StoredValue) -> Self? { try? primitive.decoded(as: Self.self) }
}

/// A type that is its own primitive.
public protocol StoredAsSelf: StoredObject, StorablePrimitive where Primitive == Self {}

extension StoredAsSelf {
    /// Returns the value itself.
    public func toPrimitive() -> Self? { self }
    /// Returns the primitive itself.
    public static func from(primitive: Self) -> Self? { primitive }
}

// MARK: - Primitives

extension Bool: StoredAsSelf {
    public static var typeName: String { "a boolean" }
    public var stored: StoredValue { .boolean(self) }
    public init?(stored: StoredValue) {
        guard case .boolean(let value) = stored else { return nil }
        self = value
    }
}

extension StorablePrimitive where Self: FixedWidthInteger {
    public static var typeName: String { "an integer" }
    public var stored: StoredValue { .integer(Int128(self)) }
    public init?(stored: StoredValue) {
        guard case .integer(let value) = stored else { return nil }
        self.init(exactly: value)
    }
}

extension Int: StoredAsSelf {}
extension Int8: StoredAsSelf {}
extension Int16: StoredAsSelf {}
extension Int32: StoredAsSelf {}
extension Int64: StoredAsSelf {}
extension UInt: StoredAsSelf {}
extension UInt8: StoredAsSelf {}
extension UInt16: StoredAsSelf {}
extension UInt32: StoredAsSelf {}
extension UInt64: StoredAsSelf {}

extension Double: StoredAsSelf {
    public static var typeName: String { "a real number" }
    public var stored: StoredValue { .real(self) }
    public init?(stored: StoredValue) {
        switch stored {
        case .real(let value): self = value
        // Other tools write 1 for 1.0.
        case .integer(let value): self.init(exactly: value)
        default: return nil
        }
    }
}

extension Float: StoredAsSelf {
    public static var typeName: String { Double.typeName }
    public var stored: StoredValue { .real(Double(self)) }
    public init?(stored: StoredValue) {
        guard let value = Double(stored: stored) else { return nil }
        self.init(value)
        // Rounded as a literal is, since other tools write 0.1; but not to infinity.
        guard isFinite || !value.isFinite else { return nil }
    }
}

extension Decimal: StoredAsSelf {
    public static var typeName: String { String.typeName }
    /// The digits as they are, without an exponent, in the same form in every language: `-12.5`.
    public var stored: StoredValue { .string(description) }
    public init?(stored: StoredValue) {
        guard let text = String(stored: stored) else { return nil }
        guard text != Decimal.nan.description else {
            self = .nan
            return
        }
        // The initializer ignores what follows the number, and rounds what has too many digits.
        guard let number = Decimal(string: text), number.description == text.withoutTrailingZeros else { return nil }
        self = number
    }
}

extension String {
    /// The same number with no zeros at the end of its fraction.
    fileprivate var withoutTrailingZeros: String {
        guard contains("."), let last = lastIndex(where: { $0 != "0" }) else { return self }
        return String(self[last] == "." ? self[..<last] : self[...last])
    }
}

extension String: StoredAsSelf {
    public static var typeName: String { "a string" }
    public var stored: StoredValue { .string(self) }
    public init?(stored: StoredValue) {
        switch stored {
        case .string(let value): self = value
        case .untyped(let bytes): self.init(validating: bytes, as: UTF8.self)
        default: return nil
        }
    }
}

extension Data: StoredAsSelf {
    public static var typeName: String { "data" }
    public var stored: StoredValue { .data(self) }
    public init?(stored: StoredValue) {
        switch stored {
        case .data(let value), .untyped(let value): self = value
        default: return nil
        }
    }
}

extension Date: StoredAsSelf {
    public static var typeName: String { "a date" }
    public var stored: StoredValue { .date(self) }
    public init?(stored: StoredValue) {
        guard case .date(let value) = stored else { return nil }
        self = value
    }
}

extension URL: StoredAsSelf {
    public static var typeName: String { String.typeName }
    public var stored: StoredValue { .string(absoluteString) }
    public init?(stored: StoredValue) {
        guard let text = String(stored: stored) else { return nil }
        self.init(string: text)
    }
}

extension UUID: StoredAsSelf {
    public static var typeName: String { String.typeName }
    public var stored: StoredValue { .string(uuidString) }
    public init?(stored: StoredValue) {
        guard let text = String(stored: stored) else { return nil }
        self.init(uuidString: text)
    }
}

extension StoredValue: StoredAsSelf {
    public var stored: StoredValue { self }
    public init?(stored: StoredValue) { self = stored }
}
