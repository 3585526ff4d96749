import Sealing

/// The text of a `.env` file, with one `NAME=VALUE` per line.
///
/// Programs differ in how they read such files. This reader applies the rules that they share and that do not
/// contradict a shell's rules:
///
/// - Blank lines and lines that begin with `#` are ignored. `export` before a name is ignored.
/// - A name consists of ASCII letters, digits, `_`, `.` and `-`. There may be spaces around the `=`.
/// - An unquoted value ends at the end of its line, or before a `#` that follows a space. Spaces around the value are
///   dropped. All other characters are literal.
/// - A value in single quotation marks is literal. It may span several lines.
/// - A value in double quotation marks may also span several lines. In it, `\n`, `\r`, `\t`, `\"`, `\\`, `\$` and a
///   backslash before a backtick are escapes; any other backslash is literal.
/// - Nothing is expanded. For example, `$HOME` is five characters.
package enum DotEnv {
    package struct Variable: Hashable, Sendable {
        package let name: String
        package let value: [UInt8]
        /// The number of the line that contains the name, counted from 1.
        package let line: Int
    }

    /// Returns the variables in the order of the file. If a name is set twice, both variables are returned.
    package static func variables(in text: [UInt8]) throws(FormatError) -> [Variable] {
        var reader = DotEnvReader(rest: text[...])
        return try reader.readAll()
    }
}

private struct DotEnvReader {
    var rest: ArraySlice<UInt8>
    private var line = 1

    init(rest: ArraySlice<UInt8>) { self.rest = rest }

    mutating func readAll() throws(FormatError) -> [DotEnv.Variable] {
        // Some editors add a byte order mark.
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        var variables: [DotEnv.Variable] = []
        while !rest.isEmpty {
            dropSpaces()
            if let byte = rest.first, !byte.isLineEnd, byte != UInt8(ascii: "#") {
                variables.append(try readVariable())
            }
            dropComment()
            endLine()
        }
        return variables
    }

    private mutating func readVariable() throws(FormatError) -> DotEnv.Variable {
        let first = line
        var name = readName()
        if name == "export", rest.first?.isSpace == true {
            dropSpaces()
            // If no name follows `export`, then `export` is the name.
            if rest.first?.isNameByte == true { name = readName() }
        }
        dropSpaces()
        guard !name.isEmpty, rest.first == UInt8(ascii: "=") else { throw fault("it is not NAME=VALUE") }
        rest = rest.dropFirst()
        return .init(name: name, value: try readValue(), line: first)
    }

    private mutating func readName() -> String {
        let name = rest.prefix(while: \.isNameByte)
        rest = rest[name.endIndex...]
        return String(decoding: name, as: UTF8.self)
    }

    private mutating func readValue() throws(FormatError) -> [UInt8] {
        let untrimmed = rest
        dropSpaces()
        guard let quote = rest.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
            rest = untrimmed
            return readPlainValue()
        }
        let value = try readQuotedValue()
        let end = rest
        dropSpaces()
        if let byte = rest.first, !byte.isLineEnd, byte != UInt8(ascii: "#") || end.startIndex == rest.startIndex {
            throw fault("there is text after the closing quotation mark")
        }
        return value
    }

    private mutating func readPlainValue() -> [UInt8] {
        // A `#` begins a comment only after a space. So the value of "A=#1" is "#1", and the value of "A= #1" is empty.
        var value = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest[value.endIndex...]
        let comment = value.indices.dropFirst().first { value[$0] == UInt8(ascii: "#") && value[$0 - 1].isSpace }
        if let comment { value = value[..<comment] }
        return Array(value.trimming(while: \.isWhiteSpace))
    }

    private mutating func readQuotedValue() throws(FormatError) -> [UInt8] {
        let first = line
        let quote = rest.removeFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == quote { return value }
            if byte == UInt8(ascii: "\n") { line += 1 }
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), let next = rest.first,
                let escaped = next.escaped
            {
                rest = rest.dropFirst()
                value.append(escaped)
            } else {
                value.append(byte)
            }
        }
        throw FormatError(line: first, "the closing quotation mark is missing")
    }

    private mutating func dropSpaces() { rest = rest.drop(while: \.isSpace) }
    private mutating func dropComment() { rest = rest.drop { $0 != UInt8(ascii: "\n") } }

    private mutating func endLine() { if rest.popFirst() != nil { line += 1 } }

    private func fault(_ problem: String) -> FormatError { FormatError(line: line, problem) }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
    fileprivate var isLineEnd: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }

    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// The byte that a backslash followed by this byte represents; nil if the two bytes are not an escape.
    fileprivate var escaped: UInt8? {
        switch self {
        case UInt8(ascii: "n"): UInt8(ascii: "\n")
        case UInt8(ascii: "r"): UInt8(ascii: "\r")
        case UInt8(ascii: "t"): UInt8(ascii: "\t")
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`"): self
        default: nil
        }
    }
}

extension DotEnv {
    /// Returns the variable name for an entry's name: in capitals, with `_` instead of unsuitable characters. For
    /// example, `db/password` becomes `DB_PASSWORD`.
    package static func variableName(of name: String) -> String {
        let letters = name.uppercased().utf8.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
            default: UInt8(ascii: "_")
            }
        }
        let isNumber = letters.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? true
        return (isNumber ? "_" : "") + String(decoding: letters, as: UTF8.self)
    }

    /// Writes a value in quotation marks, byte by byte. ``variables(in:)`` and a shell both read back the same value.
    package static func write(_ value: some Collection<UInt8>, _ put: (UInt8) -> Void) {
        let single = UInt8(ascii: "'")
        let double = UInt8(ascii: "\"")
        let quote = value.contains(single) ? double : single
        put(quote)
        for byte in value {
            if quote == double, [double, UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`")].contains(byte) {
                put(UInt8(ascii: "\\"))
            }
            put(byte)
        }
        put(quote)
    }
}
