import Age
import TestSupport
import Testing

@Suite("Stanzas")
struct StanzaTests {
    private static let example = """
        -> X25519 XEl0dJ6y3C7KZkgmgWUicg63EyXJiwBJW8PdYJ/cYBE
        qRS0AMjdjPvZ/WT08U2KL4G+PIooA3hy38SvLpvaC1E

        """

    @Test func areWrittenAsTheyWereRead() throws {
        let text = Array((StanzaTests.example + StanzaTests.example + "-> x\n\n").utf8)
        let stanzas = try Stanza.all(in: text)
        #expect(stanzas.map(\.kind) == ["X25519", "X25519", "x"])
        #expect(stanzas.map(\.body.count) == [32, 32, 0])
        #expect(stanzas.flatMap(\.text) == text)
        #expect(try Stanza.all(in: []) == [])
    }

    @Test func ofEverySizeCanBeReadAgain() throws {
        var random = SeededGenerator(3)
        for count in 0..<200 {
            let stanza = try Stanza(arguments: ["kind", "a", "!~"], body: random.bytes(count))
            let lines = stanza.text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            // The arguments, the body, and what follows the last line's end.
            #expect(lines.count == 2 + count / 48 + 1)
            #expect(lines.dropFirst().dropLast(2).allSatisfy { $0.count == 64 })
            #expect(lines.dropLast().last.map { $0.count < 64 } == true)
            #expect(try Stanza.all(in: stanza.text) == [stanza])
        }
    }

    @Test(arguments: [[], [""], ["a", ""], ["a b"], ["a\n"], ["é"], ["\u{7F}"], ["a", "b\0"]] as [[String]])
    func withArgumentsThatCannotBeWrittenAreRefused(_ arguments: [String]) throws {
        let error = try failure { _ = try Stanza(arguments: arguments, body: []) }
        #expect(error == AgeError(.malformed, "an argument of a stanza is invalid"))
    }

    private static let invalid: [(text: String, reason: String)] = [
        ("x", "a stanza does not start with \"-> \""),
        ("->a\n\n", "a stanza does not start with \"-> \""),
        ("-> a\n\nx", "a stanza does not start with \"-> \""),
        ("-> a\n\n\n", "a stanza does not start with \"-> \""),
        ("->", "a stanza is truncated"), ("-> a", "a stanza is truncated"), ("-> a\n", "a stanza is truncated"),
        ("-> a\nQUI", "a stanza is truncated"),
        ("-> \n\n", "an argument of a stanza is invalid"),
        ("-> a \n\n", "an argument of a stanza is invalid"),
        ("-> a  b\n\n", "an argument of a stanza is invalid"),
        ("-> a\tb\n\n", "an argument of a stanza is invalid"),
        ("-> a\r\n\r\n", "an argument of a stanza is invalid"),
        ("-> é\n\n", "an argument of a stanza is invalid"),
        ("-> a\nQUJ\n", "the body of a stanza is not canonical base64"),
        ("-> a\nQUI=\n", "the body of a stanza is not canonical base64"),
        ("-> a\nQ\n", "the body of a stanza is not canonical base64"),
        ("-> a\nQUI\r\n", "the body of a stanza is not canonical base64"),
        ("-> a\nQU I\n", "the body of a stanza is not canonical base64"),
        ("-> a\n" + String(repeating: "A", count: 64) + "\n", "a stanza is truncated"),
        ("-> a\n" + String(repeating: "A", count: 65) + "\n\n", "a line of a stanza is too long"),
        ("-> " + String(repeating: "a", count: 65_536) + "\n\n", "the stanzas are too large"),
    ]

    @Test(arguments: invalid)
    func thatAreInvalidAreRefusedWithAReason(_ text: String, _ reason: String) throws {
        #expect(try failure { _ = try Stanza.all(in: Array(text.utf8)) } == AgeError(.malformed, reason))
    }

    @Test func thatAreCutAnywhereAreRefused() throws {
        let text = Array(StanzaTests.example.utf8)
        for end in 1..<text.count {
            #expect(throws: AgeError.self) { try Stanza.all(in: Array(text[..<end])) }
        }
    }
}
