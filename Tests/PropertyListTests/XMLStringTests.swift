import PropertyList
import Testing

@Suite("XML strings")
struct XMLStringTests {
    @Test(arguments: [
        ("", ""), (" a\n", " a\n"), ("a&#13;b", "a\rb"), ("a\r\nb", "a\nb"), ("&lt;&gt;&amp;&quot;&apos;", "<>&\"'"),
        ("<![CDATA[<b>&amp;]]> x", "<b>&amp; x"), ("a<!-- c -->b<?p q?>c", "abc"), ("&#x1F511;🔑", "🔑🔑"),
        ("\u{85}\u{2028}", "\u{85}\u{2028}"), ("e\u{301}", "e\u{301}"),
    ])
    func aStringIsReadToTheByte(source: String, value: String) throws {
        #expect(try read(inside: "<string>\(source)</string>") == .string(value))
    }

    @Test(arguments: [
        "a\rb", "\r\n", "\n", "\t ", "\u{85}\u{2028}", "]]>", "🔑\u{10FFFF}", "é", "e\u{301}", "\u{7F}\u{FEFF}",
    ])
    func aStringAndAKeySurviveWritingToTheByte(value: String) throws {
        let tree = StoredValue.dictionary([value: .string(value)])
        #expect(try StoredValue(parsing: tree.xml()) == tree)
    }

    @Test func canonicallyEquivalentStringsAreNotEqual() {
        #expect(StoredValue.string("é") != .string("e\u{301}"))
        #expect(StoredValue.dictionary(["é": .boolean(true)]) != .dictionary(["e\u{301}": .boolean(true)]))
    }

    @Test(
        arguments: [
            ("\0", "U+0000"), ("\u{B}", "U+000B"), ("\u{1F}", "U+001F"), ("\u{FFFE}", "U+FFFE"), ("\u{FFFF}", "U+FFFF"),
        ] as [(Character, String)])
    func whatXMLCannotHoldIsAnErrorThatNamesTheLocation(character: Character, name: String) {
        let tree = StoredValue.dictionary(["window": .array([.boolean(true), .string("hidden\(character)")])])
        #expect {
            _ = try tree.xml()
        } throws: {
            guard let error = $0 as? PropertyListError else { return false }
            return error.code == .unrepresentable && error.sentence.contains("at [\"window\"][1]")
                && error.sentence.contains(name) && !error.sentence.contains("hidden")
        }
    }

    @Test func aKeyThatXMLCannotHoldIsAnErrorWithTheCharacterEscaped() {
        #expect {
            _ = try StoredValue.dictionary(["a": .dictionary(["b\u{1}": .string("hidden")])]).xml()
        } throws: {
            guard let error = $0 as? PropertyListError else { return false }
            return error.code == .unrepresentable && error.sentence.contains("at [\"a\"][\"b\\u{01}\"]")
        }
    }

    @Test func binaryHoldsWhatXMLCannot() throws {
        let tree = StoredValue.array([.string("\0\u{FFFF}"), .string("\u{1F}")])
        #expect(try StoredValue(parsing: tree.binary()) == tree)
    }
}
