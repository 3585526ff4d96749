import Testing

@testable import Formats

@Suite struct DotEnvTests {
    private func values(_ text: String) throws -> [String: String] {
        Dictionary(
            try DotEnv.variables(in: Array(text.utf8)).map { ($0.name, String(decoding: $0.value, as: UTF8.self)) },
            uniquingKeysWith: { "\($0)|\($1)" })
    }

    @Test(arguments: [
        ("A=1", "1"), ("A=1\n", "1"), ("A=1\r\n", "1"), ("A=", ""), ("A=\n", ""), ("A = 1 ", "1"), ("\tA\t=\t1\t", "1"),
        ("export A=1", "1"), ("export\tA=1", "1"), ("\u{FEFF}A=1", "1"), ("A=a b", "a b"), ("A=x=y", "x=y"),
        ("A=$HOME/\\n", "$HOME/\\n"), ("A=it's", "it's"), ("A=ü", "ü"), ("# A=0\n\n  # x\nA=1\n#", "1"),
    ])
    func aValueEndsWithItsLine(text: String, value: String) throws {
        #expect(try values(text) == ["A": value])
    }

    @Test(arguments: [
        ("A=1 # one", "1"), ("A=1\t#one", "1"), ("A=1#one", "1#one"), ("A=#1", "#1"), ("A= #1", ""),
        ("A='1' # one", "1"),
        ("A=\"a # b\" #", "a # b"), ("A='a # b'", "a # b"),
    ])
    func aCommentBeginsAfterASpace(text: String, value: String) throws {
        #expect(try values(text) == ["A": value])
    }

    @Test(arguments: [
        ("A='a\\n\"$b'", "a\\n\"$b"), ("A=' 1 '  ", " 1 "), ("A=''", ""), ("A=\"\"\r\n", ""), ("A=  '1'", "1"),
        (#"A="\n\r\t\"\\\$""#, "\n\r\t\"\\$"), (#"A="\a\'\d""#, #"\a\'\d"#), ("A=\"it's\"", "it's"),
        ("A=\"one\ntwo\n\"", "one\ntwo\n"), ("A='one\n# two'", "one\n# two"), (#"A="\\n""#, #"\n"#),
    ])
    func aQuotedValueMayHaveSeveralLinesAndEscapes(text: String, value: String) throws {
        #expect(try values(text) == ["A": value])
    }

    @Test func variablesKeepTheirOrderTheirLinesAndTheirDuplicates() throws {
        let text = "A=1\n\nB='2\n3'\nA=4\nexport=5\nexport =6\n"
        let variables = try DotEnv.variables(in: Array(text.utf8))
        #expect(variables.map(\.name) == ["A", "B", "A", "export", "export"])
        #expect(variables.map(\.line) == [1, 3, 5, 6, 7])
        #expect(variables.map { String(decoding: $0.value, as: UTF8.self) } == ["1", "2\n3", "4", "5", "6"])
    }

    @Test func aValueMayHaveAnyBytes() throws {
        let bytes: [UInt8] = [0, 0xFF, 0x1B, UInt8(ascii: "x")]
        #expect(try DotEnv.variables(in: Array("A=".utf8) + bytes).map(\.value) == [bytes])
    }

    @Test(arguments: [
        ("A", 1), ("export A", 1), ("export", 1), ("=1", 1), ("A=1\nB C=2", 2), ("Ü=1", 1), ("\n\nA B", 3),
        ("'A'=1", 1),
    ])
    func whatIsNoAssignmentIsNamedByItsLine(text: String, line: Int) {
        #expect(throws: FormatError(line: line, "it is not NAME=VALUE")) { try values(text) }
    }

    @Test func aQuotationHasToEndAndNothingFollowsIt() {
        #expect(throws: FormatError(line: 2, "the closing quotation mark is missing")) { try values("A=1\nB='x\n\n") }
        #expect(throws: FormatError(line: 1, "the closing quotation mark is missing")) { try values(#"A="x\"#) }
        let problem = "there is text after the closing quotation mark"
        #expect(throws: FormatError(line: 2, problem)) { try values("A='x\n'y") }
        #expect(throws: FormatError(line: 1, problem)) { try values("A='x'#y") }
    }
}
