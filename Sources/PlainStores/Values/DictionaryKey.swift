public import FoundationEssentials

/// A type whose values can be the keys of a stored dictionary: String, the integers, UUID, and your own types.
///
/// For an enum with a raw value, the conformance is enough: `enum Side: String, DictionaryKey`.
///
/// A dictionary's keys are stored as strings, so other tools also see an `[Int: String]` as a dictionary. If a string
/// is not a key of the type, or two strings represent the same key, the whole value is ``VaultError/Code/unreadable``.
///
/// A dictionary inside a Codable type is stored as Codable encodes it. If its keys are neither strings, integers nor
/// CodingKeyRepresentable, it becomes an array of alternating keys and values.
public protocol DictionaryKey: Hashable, SendableMetatype {
    /// Returns the string for a key. Different keys must have different strings.
    static func text(of key: Self) -> String
    /// Returns the key for a string; nil if there is none.
    static func key(of text: String) -> Self?
}

extension DictionaryKey where Self: RawRepresentable, RawValue: DictionaryKey {
    /// Returns the string for the key's raw value.
    public static func text(of key: Self) -> String { RawValue.text(of: key.rawValue) }
    /// Returns the key whose raw value this string represents; nil if there is none.
    public static func key(of text: String) -> Self? { RawValue.key(of: text).flatMap(Self.init(rawValue:)) }
}

extension String: DictionaryKey {
    public static func text(of key: String) -> String { key }
    public static func key(of text: String) -> String? { text }
}

extension UUID: DictionaryKey {
    public static func text(of key: UUID) -> String { key.uuidString }
    public static func key(of text: String) -> UUID? { UUID(uuidString: text) }
}

extension DictionaryKey where Self: FixedWidthInteger {
    /// Returns the number in decimal digits.
    public static func text(of key: Self) -> String { String(key) }
    /// Parses a number as `text(of:)` writes it. Returns nil for any other notation, such as 007 or +7.
    public static func key(of text: String) -> Self? { Self(text, radix: 10).flatMap { String($0) == text ? $0 : nil } }
}

extension Int: DictionaryKey {}
extension Int8: DictionaryKey {}
extension Int16: DictionaryKey {}
extension Int32: DictionaryKey {}
extension Int64: DictionaryKey {}
extension Int128: DictionaryKey {}
extension UInt: DictionaryKey {}
extension UInt8: DictionaryKey {}
extension UInt16: DictionaryKey {}
extension UInt32: DictionaryKey {}
extension UInt64: DictionaryKey {}
extension UInt128: DictionaryKey {}
