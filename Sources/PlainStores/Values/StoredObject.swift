public import FoundationEssentials
public import PropertyList

/// A type whose values can be represented as a ``StoredValue`` and therefore stored.
///
/// These types are Bool, the integers, Float, Double, Decimal, String, Data, Date, URL, UUID, and arrays, string-keyed
/// dictionaries and optionals of these. Other types are converted to one of these (see ``StoredObject``).
public protocol StorablePrimitive: SendableMetatype {
    /// The type's name with its article, as it appears in errors: "an integer".
    static var primitiveName: String { get }
    /// Returns the stored form of a value.
    static func stored(_ value: Self) -> StoredValue
    /// Returns the value that a stored form represents; nil if it has another type or is out of this type's range.
    static func primitive(of stored: StoredValue) -> Self?
}

// The protocol's requirements are static, so that types such as String gain no instance members in other programs.
extension StorablePrimitive {
    var stored: StoredValue { Self.stored(self) }

    init?(stored: StoredValue) {
        guard let value = Self.primitive(of: stored) else { return nil }
        self = value
    }
}

/// A type whose values are converted to a primitive when they are stored, and back when they are read.
///
/// ```swift
/// struct Angle: StoredObject {
///     var degrees: Double
///
///     func toPrimitive() -> Double? { degrees.isFinite ? degrees : nil }
///     static func from(primitive: Double) -> Angle? { Angle(degrees: primitive) }
/// }
/// ```
///
/// For an enum with a raw value, the conformance is enough: `enum Theme: String, StoredObject`. A Codable type conforms
/// to ``StoredAsCodable`` instead.
///
/// Arrays, optionals, sets and ranges of such types also conform, and so do dictionaries of them whose keys conform to
/// ``DictionaryKey``. A set is stored as an array in bytewise order, and a range as the array of its two bounds.
public protocol StoredObject: SendableMetatype {
    /// The type of the stored primitive.
    associatedtype Primitive: StorablePrimitive

    /// Returns the primitive to store. If it is nil, the write throws ``VaultError/Code/invalid`` and changes nothing.
    func toPrimitive() -> Primitive?
    /// Returns the value that a primitive represents. If it is nil, the read throws ``VaultError/Code/unreadable``.
    static func from(primitive: Primitive) -> Self?
}

extension StoredObject {
    package func storedValue(for key: String) throws(VaultError) -> StoredValue {
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

/// A Codable type that is stored field by field. The conformance is one line: `extension Profile: StoredAsCodable {}`.
///
/// The fields become a dictionary of primitives, which have native plist types in the preferences. A nil field is left
/// out; a nil that the type's code encodes, as in an array, is stored. For types that change, see <doc:MovingValues>.
///
/// An error names the location in the value, such as `points.3.x`. It shows only the names of `CodingKeys` cases. Other
/// keys, such as a dictionary's, may be part of the value, so an asterisk replaces them: `users.*.age`.
///
/// An enum with a raw value, `enum Mode: String, Codable, StoredAsCodable`, is stored as its raw value. Values can be
/// nested up to 511 levels deep. The coders' `userInfo` is empty.
public protocol StoredAsCodable: StoredObject, Codable where Primitive == StoredValue {}

extension StoredAsCodable {
    /// Returns the value as encoded by its `encode(to:)`; nil if that throws.
    public func toPrimitive() -> StoredValue? { try? StoredValue(encoding: self) }
    /// Returns the value as decoded by its `init(from:)`; nil if that throws.
    public static func from(primitive: StoredValue) -> Self? { try? primitive.decoded(as: Self.self) }
}

/// A type that is itself a primitive, so that its values are not converted to another type.
public protocol StoredAsSelf: StoredObject, StorablePrimitive where Primitive == Self {}

extension StoredAsSelf {
    /// Returns the value itself.
    public func toPrimitive() -> Self? { self }
    /// Returns the primitive itself.
    public static func from(primitive: Self) -> Self? { primitive }
}

extension Bool: StoredAsSelf {
    public static var primitiveName: String { "a boolean" }
    public static func stored(_ value: Bool) -> StoredValue { .boolean(value) }
    public static func primitive(of stored: StoredValue) -> Bool? {
        if case .boolean(let value) = stored { value } else { nil }
    }
}

extension StorablePrimitive where Self: FixedWidthInteger {
    public static var primitiveName: String { "an integer" }
    public static func stored(_ value: Self) -> StoredValue { .integer(Int128(value)) }
    public static func primitive(of stored: StoredValue) -> Self? {
        if case .integer(let value) = stored { Self(exactly: value) } else { nil }
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
    public static var primitiveName: String { "a real number" }
    public static func stored(_ value: Double) -> StoredValue { .real(value) }
    public static func primitive(of stored: StoredValue) -> Double? {
        switch stored {
        case .real(let value): value
        // Other tools may write 1.0 as 1, so an integer is accepted too.
        case .integer(let value): Double(exactly: value)
        default: nil
        }
    }
}

extension Float: StoredAsSelf {
    public static var primitiveName: String { Double.primitiveName }
    public static func stored(_ value: Float) -> StoredValue { .real(Double(value)) }
    public static func primitive(of stored: StoredValue) -> Float? {
        guard let double = Double(stored: stored) else { return nil }
        let value = Float(double)
        // Other tools write decimals such as 0.1, so the number is rounded to a Float, but never to infinity.
        return value.isFinite || !double.isFinite ? value : nil
    }
}

extension Decimal: StoredAsSelf {
    public static var primitiveName: String { String.primitiveName }
    /// Returns the number with all its digits and no exponent, such as `-12.5`. The form is the same in every locale.
    public static func stored(_ value: Decimal) -> StoredValue { .string(value.description) }
    public static func primitive(of stored: StoredValue) -> Decimal? {
        guard let text = String(stored: stored) else { return nil }
        if text == Decimal.nan.description { return .nan }
        // The texts are compared, since `Decimal(string:)` ignores text after the number and rounds long numbers.
        guard let number = Decimal(string: text), number.description == text.withoutTrailingZeros else { return nil }
        return number
    }
}

extension String {
    fileprivate var withoutTrailingZeros: String {
        guard contains("."), let last = lastIndex(where: { $0 != "0" }) else { return self }
        return String(self[last] == "." ? self[..<last] : self[...last])
    }
}

extension String: StoredAsSelf {
    public static var primitiveName: String { "a string" }
    public static func stored(_ value: String) -> StoredValue { .string(value) }
    public static func primitive(of stored: StoredValue) -> String? {
        switch stored {
        case .string(let value): value
        case .untyped(let bytes): String(validating: bytes, as: UTF8.self)
        default: nil
        }
    }
}

extension Data: StoredAsSelf {
    public static var primitiveName: String { "data" }
    public static func stored(_ value: Data) -> StoredValue { .data(value) }
    public static func primitive(of stored: StoredValue) -> Data? {
        switch stored {
        case .data(let value), .untyped(let value): value
        default: nil
        }
    }
}

extension Date: StoredAsSelf {
    public static var primitiveName: String { "a date" }
    public static func stored(_ value: Date) -> StoredValue { .date(value) }
    public static func primitive(of stored: StoredValue) -> Date? {
        if case .date(let value) = stored { value } else { nil }
    }
}

extension URL: StoredAsSelf {
    public static var primitiveName: String { String.primitiveName }
    public static func stored(_ value: URL) -> StoredValue { .string(value.absoluteString) }
    public static func primitive(of stored: StoredValue) -> URL? { String(stored: stored).flatMap { URL(string: $0) } }
}

extension UUID: StoredAsSelf {
    public static var primitiveName: String { String.primitiveName }
    public static func stored(_ value: UUID) -> StoredValue { .string(value.uuidString) }
    public static func primitive(of stored: StoredValue) -> UUID? {
        String(stored: stored).flatMap(UUID.init(uuidString:))
    }
}

extension StoredValue: StoredAsSelf {
    /// The words that errors use for a stored value of any type.
    public static var primitiveName: String { "a value" }
    public static func stored(_ value: StoredValue) -> StoredValue { value }
    public static func primitive(of stored: StoredValue) -> StoredValue? { stored }
}
