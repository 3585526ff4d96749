import Foundation
import TestSupport
import Testing

@testable import PlainStores

@Suite("JSON that an import would change")
struct JSONSurveyTests {
    private static func nested(_ depth: Int) -> String {
        #"{"a":"# + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}"
    }

    private func finding(_ text: String) -> String? {
        do { try JSONSurvey.check(Array(text.utf8)) } catch { return error.text }
        return nil
    }

    @Test(arguments: [
        ("{\"t\": \"canary\", \"t\": 1}", "the key \"t\" occurs twice in one object"),
        (#"{"a": [{"t": {}, "u": [], "t": "canary"}]}"#, "the key \"t\" occurs twice in one object"),
        (#"{"t": 1, "\u0074": 2}"#, "the key \"t\" occurs twice in one object"),
        ("{\"\u{e9}\": 1, \"e\u{301}\": 2}", "the key \"e\u{301}\" occurs twice in one object"),
        (#"{"t": 18446744073709551616}"#, #"a number under the key "t" does not fit into 64 bits"#),
        (#"{"t": -9223372036854775809}"#, #"a number under the key "t" does not fit into 64 bits"#),
        (
            #"{"t": [1, {}, [340282366920938463463374607431768211456]]}"#,
            #"a number under the key "t" does not fit into 64 bits"#
        ),
        ("[99999999999999999999]", "a number does not fit into 64 bits"),
        (nested(129), "it is nested more than 128 levels deep"),
        ("{\0\"\0}\0", "it is not UTF-8"),
        ("[" + String(repeating: "0,", count: 1_000_000) + "0]", "it holds more than 1000000 values"),
        (
            #"{"\u001b[2J\#(String(repeating: "k", count: 99))": [-9223372036854775809]}"#,
            #"a number under the key "\u{1B}[2J\#(String(repeating: "k", count: 60))"… does not fit into 64 bits"#
        ),
    ])
    func isFound(_ text: String, _ sentence: String) {
        #expect(finding(text) == sentence)
    }

    @Test(arguments: [
        #"{"t": 18446744073709551615, "u": -9223372036854775808, "v": -0}"#, #"{"t": {"u": 1}, "u": {"t": 1}}"#,
        #"{"t": "t", "u": ["t", "t"], "v": "\"t\": 1, \"t\": 2"}"#, #"[{"t": 1}, {"t": 2}]"#,
        #"{"t": 12345678901234567890.5, "u": 1e30, "v": 100000000000000000000E-3}"#, nested(128), "", "{}",
    ])
    func isNotFoundWhereThereIsNone(_ text: String) {
        #expect(finding(text) == nil)
    }

    @Test(arguments: 0..<40)
    func ofAnyBytesIsLookedThroughToItsEnd(_ seed: Int) {
        var generator = SeededGenerator(seed)
        let alphabet = Array("{}[]\",:-1e.\\u0 t\0\u{e9}".utf8)
        for _ in 0..<200 {
            let bytes = (0..<Int.random(in: 0..<60, using: &generator)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            try? JSONSurvey.check(bytes)
        }
    }

    @Test(arguments: [
        #"{"t": "first-canary", "t": "second-canary"}"#, #"{"t": 77777777777777777777, "u": "canary"}"#, nested(500),
    ])
    func isRefusedAndStays(_ text: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tokens.json")
        try overwrite(path, text.utf8)
        let store = MemoryStore()
        let error = #expect(throws: VaultError.self) {
            try PlainFile.importValues(from: path) { _ in .store(store) }
        }
        #expect(error?.code == .damaged)
        #expect(error.map { !$0.message.contains("canary") && !$0.message.contains("7777") } == true)
        #expect(try contents(path) == Array(text.utf8))
        #expect(store.keys(prefix: "").isEmpty)
    }

    /// Threads that are not the first have 512 KiB on some systems.
    @Test func thatIsAsDeepAsAllowedNeedsNoMoreThanASmallStack() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("deep.json")
        try overwrite(path, Self.nested(128).utf8)
        try onSmallStack { () throws in #expect(try PlainFile(path: path)?.values.count == 1) }
    }
}
