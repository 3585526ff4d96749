/// A value in a JSON document (RFC 8259), with its line number.
///
/// FoundationEssentials' decoder does not suffice: it reports no line for an error, and silently drops a value if a key
/// occurs twice in an object.
package struct JSONNode: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        case null
        case boolean(Bool)
        /// A number as it is written in the text, so that no digit is lost.
        case number(String)
        case string(String)
        case array([JSONNode])
        case object([String: JSONNode])
    }

    package let line: Int
    package let value: Value

    /// Parses a document whose root is an object.
    package init(parsing text: [UInt8]) throws(FormatError) {
        var reader = JSONReader(text)
        self = try reader.readAll()
        guard case .object = value else { throw FormatError(line: line, "the JSON text is not an object") }
    }

    fileprivate init(_ line: Int, _ value: Value) {
        self.line = line
        self.value = value
    }
}

// Accessors that expect a certain type. A member with the value null counts as missing.

extension JSONNode {
    package func members() throws(FormatError) -> [String: JSONNode] {
        guard case .object(let members) = value else { throw FormatError(line: line, "an object was expected") }
        return members.filter { $0.value.value != .null }
    }

    package func elements() throws(FormatError) -> [JSONNode] {
        guard case .array(let elements) = value else { throw FormatError(line: line, "an array was expected") }
        return elements
    }

    package func string() throws(FormatError) -> String {
        guard case .string(let text) = value else { throw FormatError(line: line, "a string was expected") }
        return text
    }

    package func boolean() throws(FormatError) -> Bool {
        guard case .boolean(let flag) = value else { throw FormatError(line: line, "true or false was expected") }
        return flag
    }

    package func integer() throws(FormatError) -> Int {
        guard case .number(let text) = value, let number = Int(text) else {
            throw FormatError(line: line, "a whole number was expected")
        }
        return number
    }
}

extension [String: JSONNode] {
    package func string(_ key: String) throws(FormatError) -> String? {
        guard let node = self[key] else { return nil }
        return try node.string()
    }

    package func elements(_ key: String) throws(FormatError) -> [JSONNode] {
        guard let node = self[key] else { return [] }
        return try node.elements()
    }
}

private struct JSONReader {
    /// The maximum nesting depth. Deeper nesting could exhaust a thread's stack.
    static let maximumDepth = 128

    private let bytes: [UInt8]
    private var offset = 0
    private var line = 1

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    }

    mutating func readAll() throws(FormatError) -> JSONNode {
        let root = try readValue(depth: 0)
        guard try next() == nil else { throw fault("there is text after the end of the JSON text") }
        return root
    }

    /// Returns the next byte that is not white space, without consuming it; nil at the end.
    private mutating func next() throws(FormatError) -> UInt8? {
        while offset < bytes.count {
            let byte = bytes[offset]
            guard " \t\r\n".utf8.contains(byte) else { return byte }
            if byte == UInt8(ascii: "\n") { line += 1 }
            offset += 1
        }
        return nil
    }

    private mutating func take(_ byte: UInt8) throws(FormatError) -> Bool {
        guard try next() == byte else { return false }
        offset += 1
        return true
    }

    private mutating func readValue(depth: Int) throws(FormatError) -> JSONNode {
        guard depth < Self.maximumDepth else { throw fault("it is nested more than \(Self.maximumDepth) levels deep") }
        guard let byte = try next() else { throw fault("the JSON text is truncated") }
        let first = line
        switch byte {
        case UInt8(ascii: "{"): return JSONNode(first, .object(try readObject(depth)))
        case UInt8(ascii: "["): return JSONNode(first, .array(try readArray(depth)))
        case UInt8(ascii: "\""): return JSONNode(first, .string(try readString()))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return JSONNode(first, .number(try readNumber()))
        default: return JSONNode(first, try readWord())
        }
    }

    private mutating func readObject(_ depth: Int) throws(FormatError) -> [String: JSONNode] {
        var members: [String: JSONNode] = [:]
        offset += 1
        if try take(UInt8(ascii: "}")) { return members }
        repeat {
            guard try next() == UInt8(ascii: "\"") else { throw fault("a key in quotation marks was expected") }
            let keyLine = line
            let key = try readString()
            guard try take(UInt8(ascii: ":")) else { throw fault("a colon is missing after a key") }
            guard members.updateValue(try readValue(depth: depth + 1), forKey: key) == nil else {
                throw FormatError(line: keyLine, "a key occurs twice in one object")
            }
        } while try take(UInt8(ascii: ","))
        guard try take(UInt8(ascii: "}")) else { throw fault("a comma or the end of an object is missing") }
        return members
    }

    private mutating func readArray(_ depth: Int) throws(FormatError) -> [JSONNode] {
        var elements: [JSONNode] = []
        offset += 1
        if try take(UInt8(ascii: "]")) { return elements }
        repeat { elements.append(try readValue(depth: depth + 1)) } while try take(UInt8(ascii: ","))
        guard try take(UInt8(ascii: "]")) else { throw fault("a comma or the end of an array is missing") }
        return elements
    }

    private mutating func readWord() throws(FormatError) -> JSONNode.Value {
        let words: [(String, JSONNode.Value)] = [("true", .boolean(true)), ("false", .boolean(false)), ("null", .null)]
        for (word, value) in words where bytes[offset...].starts(with: word.utf8) {
            offset += word.utf8.count
            return value
        }
        throw fault("a JSON value was expected")
    }

    private mutating func readNumber() throws(FormatError) -> String {
        let literal = bytes[offset...].prefix { "0123456789-+.eE".utf8.contains($0) }
        let text = String(decoding: literal, as: UTF8.self)
        let digits = literal.first == UInt8(ascii: "-") ? literal.dropFirst() : literal
        let second = digits.dropFirst().first
        let isPadded = digits.first == UInt8(ascii: "0") && second.map { (0x30...0x39).contains($0) } == true
        guard Double(text) != nil, !isPadded, let last = literal.last, (0x30...0x39).contains(last),
            let first = digits.first, (0x30...0x39).contains(first)
        else { throw fault("a number is malformed") }
        offset = literal.endIndex
        return text
    }

    private mutating func readString() throws(FormatError) -> String {
        offset += 1
        var text: [UInt8] = []
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw fault("it is not UTF-8") }
                return string
            case UInt8(ascii: "\\"): try readEscape(&text)
            case 0..<0x20: throw fault("a string is not closed, or has a control character")
            default: text.append(byte)
            }
        }
        throw fault("a string is not closed")
    }

    private mutating func readEscape(_ text: inout [UInt8]) throws(FormatError) {
        guard offset < bytes.count else { throw fault("a string is not closed") }
        let byte = bytes[offset]
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try readScalar()).utf8)
        default: throw fault("a string has an unknown escape")
        }
    }

    /// Reads the digits after `\u`. If they are the first half of a surrogate pair, also reads the second half.
    private mutating func readScalar() throws(FormatError) -> Character {
        var units = [try readUnit()]
        if UTF16.isLeadSurrogate(units[0]), bytes[offset...].starts(with: "\\u".utf8) {
            offset += 2
            units.append(try readUnit())
        }
        guard let text = String(validating: units, as: UTF16.self), let character = text.first else {
            throw fault("a string has an unpaired surrogate")
        }
        return character
    }

    private mutating func readUnit() throws(FormatError) -> UInt16 {
        let digits = bytes[offset...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw fault("a string has an unknown escape") }
        offset += 4
        return unit
    }

    private func fault(_ problem: String) -> FormatError { FormatError(line: line, problem) }
}
