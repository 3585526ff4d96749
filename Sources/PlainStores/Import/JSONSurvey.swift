import FoundationEssentials

/// A scan of JSON for content that a decoder would silently change or drop: duplicate keys in an object, and integers
/// beyond 64 bits. The scan also limits the number of values and the nesting depth.
///
/// The scan does not check the grammar, since the decoder does. It does not recurse, and it terminates for any bytes.
struct JSONSurvey {
    /// The maximum nesting depth. Decoding 500 levels would overflow a 512 KiB thread stack.
    static let maximumDepth = 128

    private struct Container {
        let isObject: Bool
        var expectsKey: Bool
        var key: String?
        /// The object's keys so far. As in a Swift dictionary, canonically equivalent strings are the same key.
        var keys: Set<String> = []
    }

    private let bytes: [UInt8]
    private var offset = 0
    private var open: [Container] = []
    /// An upper bound on the number of values in the JSON: one, plus one for each opening bracket and each comma.
    private var valueCount = 1

    static func check(_ bytes: [UInt8]) throws(ImportFinding) {
        var survey = JSONSurvey(bytes: bytes)
        while survey.offset < bytes.count { try survey.step() }
    }

    private mutating func step() throws(ImportFinding) {
        let byte = bytes[offset]
        switch byte {
        case UInt8(ascii: "\""): return try passString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try passNumber()
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.count < JSONSurvey.maximumDepth else {
                throw ImportFinding(text: "it is nested more than \(JSONSurvey.maximumDepth) levels deep")
            }
            try countValue()
            let isObject = byte == UInt8(ascii: "{")
            open.append(Container(isObject: isObject, expectsKey: isObject))
        case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = open.popLast()
        case UInt8(ascii: ","):
            try countValue()
            if let last = open.indices.last { open[last].expectsKey = open[last].isObject }
        // The decoder may treat input with a zero byte as UTF-16, in which this scan cannot find keys.
        case 0: throw ImportFinding(text: "it is not UTF-8")
        default: break
        }
        offset += 1
    }

    private mutating func countValue() throws(ImportFinding) {
        valueCount += 1
        guard valueCount <= PropertyListFormat.maximumValues else {
            throw ImportFinding(text: "it holds more than \(PropertyListFormat.maximumValues) values")
        }
    }

    private mutating func passString() throws(ImportFinding) {
        let start = offset
        offset += 1
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "\"") {
            offset += bytes[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        offset = min(offset + 1, bytes.count)
        guard let last = open.indices.last, open[last].expectsKey else { return }
        open[last].expectsKey = false
        // An invalid string is skipped here, since the decoder rejects it.
        guard let key = JSONSurvey.string(bytes[start..<offset]) else { return }
        open[last].key = key
        guard !open[last].keys.insert(key).inserted else { return }
        throw ImportFinding(text: "the key \(PropertyListError.shown(key)) occurs twice in one object")
    }

    /// Returns the string that a literal represents; nil if the literal is invalid. `literal` includes the quotes.
    private static func string(_ literal: ArraySlice<UInt8>) -> String? {
        guard literal.contains(UInt8(ascii: "\\")) else {
            return String(validating: literal.dropFirst().dropLast(), as: UTF8.self)
        }
        return try? JSONDecoder().decode(String.self, from: Data(literal))
    }

    private mutating func passNumber() throws(ImportFinding) {
        let literal = bytes[offset...].prefix { "0123456789-+.eE".utf8.contains($0) }
        offset = literal.endIndex
        guard literal.allSatisfy({ "0123456789-".utf8.contains($0) }) else { return }
        // A literal of over 20 characters exceeds 64 bits. An invalid one counts as 0, because the decoder rejects it.
        let number = literal.count > 20 ? .max : Int128(String(decoding: literal, as: UTF8.self)) ?? 0
        guard !StoredValue.integers.contains(number) else { return }
        let key = open.reversed().lazy.compactMap(\.key).first.map { " under the key \(PropertyListError.shown($0))" }
        throw ImportFinding(text: "a number\(key ?? "") does not fit into 64 bits")
    }
}

extension StoredValue {
    /// Reads JSON. Throws an ``ImportFinding`` for content that the decoder would change or drop, and rethrows the
    /// decoder's own errors. Both kinds of error may quote the JSON.
    package init(json bytes: [UInt8]) throws {
        try JSONSurvey.check(bytes)
        self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes)).stored
    }
}

private struct JSONValue: Decodable {
    let stored: StoredValue

    private static let scalars: [any (Decodable & StorablePrimitive).Type] = [
        Bool.self, Int64.self, UInt64.self, Double.self, String.self,
    ]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        for type in JSONValue.scalars {
            if let value = try? container.decode(type) {
                stored = value.stored
                return
            }
        }
        if container.decodeNil() {
            stored = .null
        } else if let values = try? container.decode([JSONValue].self) {
            stored = .array(values.map(\.stored))
        } else {
            stored = .dictionary(try container.decode([String: JSONValue].self).mapValues(\.stored))
        }
    }
}
