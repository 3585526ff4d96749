public import FoundationEssentials

/// A value in the form in which stores keep it: its primitive together with the tag that names the primitive.
///
/// Stores pass it on and do not look into it; programs meet it only when they write a ``ValueStore`` or a
/// ``StorablePrimitive`` of their own. Its textual form tells the type alone, never the value.
public enum StoredValue: Sendable {
    /// The absence of a value inside an array or a dictionary, or of an optional that is stored as such.
    case null
    /// A truth value; never an integer.
    case boolean(Bool)
    /// Any integer that has a type: -2^63 to 2^64 - 1.
    case integer(Int128)
    /// A floating-point number, also where it is whole.
    case real(Double)
    /// A text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A point in time.
    case date(Date)
    /// Values in their order.
    case array([StoredValue])
    /// Values by name.
    case dictionary([String: StoredValue])
    /// Bytes of which nothing was said, as the command stores them. They can be read as a string, if they are UTF-8,
    /// and as data.
    case untyped(Data)
}

extension StoredValue {
    /// What the value is, with its article: "a string", "an integer".
    public var typeName: String {
        switch self {
        case .null: "nothing"
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .real: "a real number"
        case .string: "a string"
        case .data: "data"
        case .date: "a date"
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .untyped: "bytes without a type"
        }
    }
}

extension StoredValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "StoredValue(\(typeName))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
