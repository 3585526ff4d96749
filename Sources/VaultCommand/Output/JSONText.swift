import FoundationEssentials

/// JSON on one line, with sorted keys and underscores, for everything but values.
enum JSONText {
    static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return escapingTheUnsafe(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
    }

    /// Escapes what a terminal would obey and JSON allows. Outside of its strings JSON is plain ASCII, so the escapes are
    /// valid wherever they are needed.
    private static func escapingTheUnsafe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isUnsafeOnTerminal) else { return text }
        var text = text
        return text.withUTF8 { bytes in
            var escaped: [UInt8] = []
            UTF8Walk.walk(UnsafeRawBufferPointer(bytes)) { piece in
                guard case .scalar(let scalar, let range) = piece else { return true }
                if scalar.isUnsafeOnTerminal {
                    Escaping.json(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[range])) {
                        escaped.append($0)
                    }
                } else {
                    escaped.append(contentsOf: bytes[range])
                }
                return true
            }
            return String(decoding: escaped, as: UTF8.self)
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
