import FoundationEssentials

/// The elements of Apple's PropertyList-1.0.dtd.
enum XMLElement: String {
    case plist, dict, key, array, string, data, date, integer, real
    case yes = "true"
    case no = "false"

    /// Returns the value that an element with this text represents.
    ///
    /// Numbers and dates may have white space around them. Otherwise, the rules are those of CoreFoundation
    /// (CFPropertyList.c, `parseIntegerTag` and `parseRealTag`), or stricter.
    func value(_ text: [UInt8]) throws(PropertyListError) -> StoredValue {
        let start = text.drop(while: \.isXMLSpace)
        let trimmed = start.lastIndex { !$0.isXMLSpace }.map { start[...$0] } ?? []
        switch self {
        case .string: return .string(try XMLElement.string(text))
        case .integer: return .integer(try XMLElement.integer(trimmed))
        case .real: return .real(try XMLElement.real(String(decoding: trimmed, as: UTF8.self)))
        case .date: return .date(try CalendarTime.date(trimmed))
        case .data: return .data(try XMLElement.data(text))
        case .yes, .no:
            guard text.isEmpty else { throw .malformed("content in \(rawValue)") }
            return .boolean(self == .yes)
        case .plist, .dict, .array, .key: throw .malformed("no value")
        }
    }

    static func string(_ text: [UInt8]) throws(PropertyListError) -> String {
        guard let string = String(validating: text, as: UTF8.self) else { throw .malformed("text that is not UTF-8") }
        return string
    }

    /// Parses `[+-] digits` or `[+-] 0x hexadecimal digits`. White space is allowed after the sign.
    private static func integer(_ text: ArraySlice<UInt8>) throws(PropertyListError) -> Int128 {
        var rest = text
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst().drop(while: \.isXMLSpace) }
        let isHexadecimal = rest.starts(with: "0x".utf8) || rest.starts(with: "0X".utf8)
        if isHexadecimal { rest = rest.dropFirst(2) }
        guard !rest.isEmpty else { throw .malformed("an integer without digits") }
        let radix = isHexadecimal ? 16 : 10
        guard rest.allSatisfy({ Character(UnicodeScalar($0)).hexDigitValue ?? radix < radix }) else {
            throw .malformed("an integer with characters that are not digits")
        }
        let digits = (isNegative ? "-" : "") + String(decoding: rest, as: UTF8.self)
        guard let value = Int128(digits, radix: radix), StoredValue.integers.contains(value) else {
            throw .unsupported("an integer beyond 64 bits")
        }
        return value
    }

    /// Parses a decimal number, or `nan`, `inf` or `infinity` in upper or lower case. Refuses a number that is too
    /// large for a Double, since it would become infinity.
    private static func real(_ word: String) throws(PropertyListError) -> Double {
        let isNamed = ["nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"].contains(word.lowercased())
        guard isNamed || word.utf8.allSatisfy("0123456789+-.eE".utf8.contains), let value = Double(word) else {
            throw .malformed("a real that is not a decimal number")
        }
        guard isNamed || value.isFinite else { throw .unsupported("a real beyond 64 bits") }
        return value
    }

    /// Decodes base64 (RFC 4648, section 4), with white space anywhere.
    private static func data(_ text: [UInt8]) throws(PropertyListError) -> Data {
        let characters = text.filter { !$0.isXMLSpace }
        // Foundation accepts base64 with excess padding characters, so the padding is checked here.
        let isPadded = "==".utf8.starts(with: characters.drop { $0 != UInt8(ascii: "=") })
        guard isPadded, characters.count.isMultiple(of: 4), let data = Data(base64Encoded: Data(characters)) else {
            throw .malformed("data that is not base64")
        }
        return data
    }
}

extension UInt8 {
    /// Whether the byte is white space in XML 1.0 (section 2.3).
    var isXMLSpace: Bool { self == 0x20 || self == 0x0a || self == 0x09 || self == 0x0d }
}
