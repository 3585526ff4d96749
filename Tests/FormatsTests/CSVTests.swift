import Testing

@testable import Formats

@Suite struct CSVTests {
    private func records(_ text: String) throws -> [[String]] {
        try CSV.records(in: Array(text.utf8)).map(\.fields)
    }

    @Test(arguments: [
        ("", []), ("\r\n\n", []), ("a", [["a"]]), ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
        ("\u{FEFF}a\n\nb", [["a"], ["b"]]), (",", [["", ""]]), (#""a,b","c""d""#, [["a,b", #"c"d"#]]),
        ("\"a\r\nb\",\"\"\n", [["a\r\nb", ""]]), ("ü, x ", [["ü", " x "]]),
    ])
    func fieldsAreReadAsRFC4180HasThem(text: String, expected: [[String]]) throws {
        #expect(try records(text) == expected)
    }

    @Test(arguments: [
        ("a\n\"b", 2), ("a\n\"b\n\n", 2), ("a\"b", 1), ("\"a\nb\"c", 2), ("a\rb", 1), ("a\n\"b\"\rc", 2),
    ])
    func aBrokenFieldIsAnErrorWithItsLine(text: String, line: Int) {
        let error = #expect(throws: FormatError.self) { try records(text) }
        #expect(error?.line == line)
    }

    @Test func bytesThatAreNotUTF8AreAnError() {
        let error = #expect(throws: FormatError.self) { try CSV.records(in: [0x61, 0x0A, 0xFF]) }
        #expect(error?.line == 2)
    }

    @Test(arguments: ["", "a", "a,b", "a\"b\"", "a\nb", "\r\n", " a ", "ü\t\u{0}"])
    func aFieldThatWasWrittenIsReadAsItWas(field: String) throws {
        var text: [UInt8] = []
        CSV.write(Array(field.utf8)) { text.append($0) }
        #expect(try CSV.records(in: text + Array(",x".utf8)).map(\.fields) == [[field, "x"]])
    }
}
