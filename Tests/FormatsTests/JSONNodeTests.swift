import Testing

@testable import Formats

@Suite struct JSONNodeTests {
    private func member(_ text: String) throws -> JSONNode.Value? {
        try JSONNode(parsing: Array("{\"a\":\(text)}".utf8)).members()["a"]?.value
    }

    @Test(arguments: [
        (#""""#, ""), (#""x\"\\\/\b\f\n\r\ty""#, "x\"\\/\u{8}\u{c}\n\r\ty"), (#""ü\u00fc\u0000""#, "üü\u{0}"),
        (#""\ud83d\udd11""#, "🔑"), (#""e\u0301""#, "e\u{301}"),
    ])
    func stringsAreReadWithTheirEscapes(text: String, expected: String) throws {
        #expect(try member(text) == .string(expected))
    }

    @Test(arguments: ["0", "-1", "12", "1.5", "1e3", "-0.5E-2"])
    func numbersAreKeptAsTheyAreWritten(text: String) throws {
        #expect(try member(text) == .number(text))
    }

    @Test func otherValuesHaveTheirLines() throws {
        let root = try JSONNode(parsing: Array("\u{FEFF}{\n\"a\": [true, false,\nnull], \"b\": {}}".utf8))
        let members = try root.members()
        #expect(root.line == 1 && members["a"]?.line == 2 && members["b"]?.line == 3)
        #expect(try members.elements("a").map(\.line) == [2, 2, 3])
        #expect(try members.elements("a").map(\.value) == [.boolean(true), .boolean(false), .null])
    }

    @Test(arguments: [
        ("", 1), ("[]", 1), ("{", 1), ("{\n\"a\"", 2), ("{\"a\":\n", 2), ("{\"a\":1,\n}", 2), ("{\"a\" 1}", 1),
        ("{\"a\":1}\nx", 2), ("{\"a\":01}", 1), ("{\"a\":-}", 1), ("{\"a\":1.}", 1), ("{\"a\":.5}", 1),
        ("{\"a\":+1}", 1), ("{\"a\":nul}", 1), ("{\"a\":[1,]}", 1), ("{\"a\":[1\n", 2), ("{\"a\":\"\n\"}", 1),
        (#"{"a":"\x"}"#, 1), (#"{"a":"\u12g4"}"#, 1), (#"{"a":"\ud83d"}"#, 1), (#"{"a":"\udd11\ud83d"}"#, 1),
        ("{\"a\":1,\n\"a\":2}", 2), ("{\"a\":1,\n\"\\u0061\":2}", 2), ("{a:1}", 1),
    ])
    func aMalformedTextIsAnErrorWithItsLine(text: String, line: Int) {
        let error = #expect(throws: FormatError.self) { try JSONNode(parsing: Array(text.utf8)) }
        #expect(error?.line == line)
    }

    @Test func deepNestingIsAnError() throws {
        let nested = { (depth: Int) in
            Array(("{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}").utf8)
        }
        _ = try JSONNode(parsing: nested(127))
        #expect(throws: FormatError.self) { try JSONNode(parsing: nested(128)) }
        #expect(throws: FormatError.self) { try JSONNode(parsing: Array("{\"a\":".utf8) + nested(1_000_000)) }
    }
}
