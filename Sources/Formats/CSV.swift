/// Comma-separated values, as defined by RFC 4180.
///
/// Lines end with CR LF or LF. The reader skips a byte order mark and blank lines.
package enum CSV {
    package struct Record: Hashable, Sendable {
        /// The number of the record's first line, counted from 1.
        package let line: Int
        package let fields: [String]
    }

    package static func records(in text: [UInt8]) throws(FormatError) -> [Record] {
        var reader = CSVReader(rest: text[...])
        return try reader.readAll()
    }

    /// Writes a field, in quotation marks if necessary.
    package static func write(_ field: some Collection<UInt8>, _ put: (UInt8) -> Void) {
        let quote = UInt8(ascii: "\"")
        // Fields with spaces are quoted too, because some readers trim unquoted fields.
        guard field.contains(where: { ",\"\r\n \t".utf8.contains($0) }) else { return field.forEach(put) }
        put(quote)
        for byte in field {
            if byte == quote { put(quote) }
            put(byte)
        }
        put(quote)
    }
}

private struct CSVReader {
    private var rest: ArraySlice<UInt8>
    private var line = 1

    init(rest: ArraySlice<UInt8>) { self.rest = rest.starts(with: [0xEF, 0xBB, 0xBF]) ? rest.dropFirst(3) : rest }

    mutating func readAll() throws(FormatError) -> [CSV.Record] {
        var records: [CSV.Record] = []
        while !rest.isEmpty {
            let first = line
            var fields = [try readField()]
            while rest.first == UInt8(ascii: ",") {
                rest = rest.dropFirst()
                fields.append(try readField())
            }
            endLine()
            if fields != [""] { records.append(.init(line: first, fields: fields)) }
        }
        return records
    }

    private mutating func readField() throws(FormatError) -> String {
        let first = line
        let bytes = rest.first == UInt8(ascii: "\"") ? try readQuoted() : try readPlain()
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw FormatError(line: first, "it is not UTF-8")
        }
        return text
    }

    private mutating func readPlain() throws(FormatError) -> [UInt8] {
        let field = rest.prefix { !",\n\r\"".utf8.contains($0) }
        rest = rest[field.endIndex...]
        if rest.first == UInt8(ascii: "\"") {
            throw FormatError(line: line, "an unquoted field contains a quotation mark")
        }
        try checkEnd()
        return Array(field)
    }

    private mutating func readQuoted() throws(FormatError) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        let first = line
        var field: [UInt8] = []
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            if byte == quote {
                guard rest.first == quote else {
                    try checkEnd()
                    return field
                }
                rest = rest.dropFirst()
            }
            if byte == UInt8(ascii: "\n") { line += 1 }
            field.append(byte)
        }
        throw FormatError(line: first, "the closing quotation mark is missing")
    }

    /// Checks that the field is followed by another field or the end of its line.
    private func checkEnd() throws(FormatError) {
        let isEnd = rest.isEmpty || rest.starts(with: [0x0D, 0x0A]) || ",\n".utf8.contains(rest[rest.startIndex])
        guard isEnd else { throw FormatError(line: line, "a field is not followed by a comma or the end of the line") }
    }

    private mutating func endLine() {
        if rest.first == UInt8(ascii: "\r") { rest = rest.dropFirst() }
        if rest.popFirst() != nil { line += 1 }
    }
}
