import LinuxSystem
import Testing

/// Texts whose bytes count.
@Suite struct ExactTextTests {
    /// Equal to Swift, by their bytes different.
    private static let pairs = [
        ("K", "\u{212A}"), (";", "\u{37E}"), ("`", "\u{1FEF}"), ("é", "e\u{301}"), ("Å", "\u{212B}"),
        ("한", "\u{1112}\u{1161}\u{11AB}"),
    ]

    @Test(arguments: pairs) func twoSpellingsOfACharacterAreTwoTexts(one: String, other: String) {
        #expect(one == other)
        #expect(!one.isSame(as: other) && ExactText(one) != ExactText(other))
        #expect(Set([ExactText(one), ExactText(other), ExactText(one)]).count == 2)
        #expect(!"\(one)/x".begins(with: other) && "\(one)/x".begins(with: one))
    }

    @Test func aTextIsTheSameAsItselfAndAsNothingElse() {
        #expect("a".isSame(as: "a") && !"a".isSame(as: "ab") && !"ab".isSame(as: "a") && !"a".isSame(as: "A"))
        #expect("".isSame(as: "") && !"".isSame(as: String?.none))
        #expect(String?("K").isSame(as: "K") && !String?("K").isSame(as: "\u{212A}") && !String?("K").isSame(as: nil))
        #expect(String?.none.isSame(as: nil) && !String?.none.isSame(as: ""))
        // One character to Swift.
        #expect("https://\u{301}".begins(with: "https://") && !"https:/".begins(with: "https://"))
    }

    /// So a constant of other ASCII characters can be compared in either way.
    @Test func onlyThreeCharactersOfASCIIHaveASecondSpelling() {
        let ascii = Set((0..<0x80).map { String(Unicode.Scalar($0)) })
        let doubles = (0x80...0x10FFFF).compactMap(Unicode.Scalar.init).map(String.init).filter(ascii.contains)
        #expect(doubles.map { $0.unicodeScalars.first?.value } == [0x37E, 0x1FEF, 0x212A])
    }

    @Test(arguments: [
        ("plain", #""plain""#), ("two\nlines\r\tand", #""two\nlines\r\tand""#), (#"a"b\c"#, #""a\"b\\c""#),
        ("\u{1b}[2J\u{9b}", #""\u001b[2J\u009b""#), ("no\u{a0}break", #""no\u00a0break""#),
        ("tag \u{e0041}", #""tag \udb40\udc41""#), ("e\u{301} 한 🔑", "\"e\u{301} 한 🔑\""), ("\r\n", #""\r\n""#),
        ("\"\u{301}", "\"\\\"\u{301}\""),
    ]) func aQuotedTextIsOneLineThatEndsWhereItSeemsTo(text: String, expected: String) {
        #expect(text.quoted.unicodeScalars.elementsEqual(expected.unicodeScalars))
    }
}
