public import FoundationEssentials
@_exported public import PropertyList

/// A type whose values have a ``StoredValue``, so that stores can keep them.
///
/// Bool, the integers, Float, Double, String, Data, Date, URL, UUID, and arrays, string-keyed dictionaries and
/// optionals of these. A type of your own is stored as one of them: see ``StoredObject``.
public protocol StorablePrimitive: SendableMetatype {
    /// The type's name with its article, as errors show it: "an integer".
    static var typeName: String { get }

    /// The value in the form that stores keep.
    var stored: StoredValue { get }

    /// Converts from the form that stores keep; nil if it is of another type or out of this one's bounds.
    init?(stored: StoredValue)
}

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
