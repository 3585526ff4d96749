import FoundationEssentials

/// JSON on one line, with sorted keys and underscores, for everything but values.
enum JSONText {
    static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return escapingTheUnsafe(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
    }

    /// Escapes what a terminal would obey and JSON allows. Outside of its strings JSON is plain ASCII, so the escapes
    /// are valid wherever they are needed.
    private static func escapingTheUnsafe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isUnsafeOnTerminal) else { return text }
        return text.unicodeScalars.reduce(into: "") { escaped, scalar in
            if scalar.isUnsafeOnTerminal {
                escaped += String(decoding: Escaping.json(String(scalar)), as: UTF8.self)
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
    }
}

/// A value that is written as null if it is missing, instead of leaving out its key.
@propertyWrapper
struct OrNull<Value: Encodable>: Encodable {
    var wrappedValue: Value?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}
