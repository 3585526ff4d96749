import FoundationEssentials

/// JSON for everything but values. Keys are sorted and written with underscores, the text is one line.
enum JSONText {
    static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return escapingTheUnsafe(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
    }

    /// JSON lets some characters pass that a terminal obeys. Outside of its strings it is plain ASCII, so they may be
    /// escaped wherever they stand.
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

/// A value that JSON shows as null where there is none, instead of leaving out its key.
@propertyWrapper
struct OrNull<Value: Encodable>: Encodable {
    var wrappedValue: Value?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}
