import FoundationEssentials
import LinuxSystem
import Testing
import Vault

@testable import VaultCommand

@Suite struct TextTests {
    @Test(arguments: [
        ("gte", "get"), ("GET", "get"), ("st", "set"), ("lss", "ls"), ("verifi", "verify"), ("compcat", "compact"),
        ("", nil), ("x", nil), ("delete", nil), ("something", nil),
    ])
    func theNearestCommand(typed: String, expected: String?) {
        #expect(NearName.nearest(to: typed, among: CommandName.allCases.map(\.rawValue)) == expected)
    }

    /// roff reads at least four digits.
    @Test func aManualPageShowsAnyCharacter() {
        #expect(Roff.text("é€😀") == "\\[u00E9]\\[u20AC]\\[u1F600]\n")
    }

    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("ab", "ba", 1), ("kitten", "sitting", 3), ("abc", "abc", 0), ("ca", "abc", 3),
    ])
    func distances(left: String, right: String, expected: Int) {
        #expect(NearName.distance(Array(left.utf8), Array(right.utf8)) == expected)
        #expect(NearName.distance(Array(right.utf8), Array(left.utf8)) == expected)
    }

    @Test(arguments: [
        ("*", "", true), ("*", "a/b", true), ("a*", "ba", false), ("a*b*c", "a-b-b-c", true), ("a*b*c", "a-c-b", false),
        ("?", "ü", true), ("?", "", false), ("a?", "a", false), ("[a-c]x", "Bx", true), ("[!a-c]x", "bx", false),
        ("[^a]", "b", true), ("[]]", "]", true), ("[]a]x", "ax", true), ("[a", "[a", true), ("[a*", "[abc", true),
        ("\\*?", "*a", true), ("\\*?", "ba", false), ("*\\", "a\\", true), ("[a-]*", "-", true), ("*[z-a]", "a", true),
        ("**a", "ba", true), ("ÄB*", "äbc", true),
    ])
    func aPatternDescribesAWholeText(pattern: String, text: String, expected: Bool) throws {
        #expect(try #require(Glob(pattern)).matches(text) == expected)
    }

    @Test func aWordWithoutMarksIsNoPattern() {
        #expect(Glob("web/shop") == nil && Glob("") == nil && Glob("a\\b") == nil)
    }

    /// Steps that go back and forth must not multiply.
    @Test func aPatternOfManyStarsIsQuick() throws {
        let pattern = try #require(Glob(String(repeating: "a*", count: 200) + "b"))
        #expect(!pattern.matches(String(repeating: "a", count: 1_000)))
    }

    @Test(arguments: [
        ("plain, with \"quotes\" and \\ and ü and 🔑", "plain, with \"quotes\" and \\ and ü and 🔑"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\u{1b}[2J", "\\x1b[2J"),
        ("bell\u{7} return\r delete\u{7f} nul\0", "bell\\x07 return\\x0d delete\\x7f nul\\x00"),
        ("c1 \u{9b}31m", "c1 \\u{9b}31m"),
        ("turned \u{202e}txt", "turned \\u{202e}txt"),
        ("soft \u{ad}hyphen, joined \u{34f}", "soft \\u{ad}hyphen, joined \\u{034f}"),
        ("no width \u{200b}\u{feff}", "no width \\u{200b}\\u{feff}"),
        ("tagged \u{e0041}, sung \u{1d173}", "tagged \\u{e0041}, sung \\u{1d173}"),
        ("❤\u{fe0f} 👩\u{200d}🚀", "❤\\u{fe0f} 👩\\u{200d}🚀"),
        ("accents e\u{301}, 한국어, नमस्ते and ¡", "accents e\u{301}, 한국어, नमस्ते and ¡"),
        ("no\u{a0}break, thin\u{2009}, wide\u{3000}", "no\\u{a0}break, thin\\u{2009}, wide\\u{3000}"),
        ("braille \u{2800}, tied \u{2066}", "braille \\u{2800}, tied \\u{2066}"),
    ])
    func aTerminalGetsNothingItWouldObey(text: String, expected: String) {
        #expect(escaped(Array(text.utf8), Escaping.terminal) == expected)
        #expect(text.forTerminal == expected)
    }

    /// As in DerivedCoreProperties.txt of Unicode, also those that are reserved.
    private static let ignorable: [ClosedRange<UInt32>] = [
        0xAD...0xAD, 0x34F...0x34F, 0x61C...0x61C, 0x115F...0x1160, 0x17B4...0x17B5, 0x180B...0x180F, 0x200B...0x200F,
        0x202A...0x202E, 0x2060...0x206F, 0x3164...0x3164, 0xFE00...0xFE0F, 0xFEFF...0xFEFF, 0xFFA0...0xFFA0,
        0xFFF0...0xFFF8, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A, 0xE0000...0xE0FFF,
    ]

    /// As in UnicodeData.txt, the category Cf without those above.
    private static let formats: [ClosedRange<UInt32>] = [
        0x600...0x605, 0x6DD...0x6DD, 0x70F...0x70F, 0x890...0x891, 0x8E2...0x8E2, 0xFFF9...0xFFFB, 0x110BD...0x110BD,
        0x110CD...0x110CD, 0x13430...0x1343F,
    ]
    /// The category Zs without the usual one.
    private static let spaces: [ClosedRange<UInt32>] = [
        0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000,
    ]
    private static let blanks: [ClosedRange<UInt32>] = [
        0x2800...0x2800, 0x1D159...0x1D159, 0x16FE4...0x16FE4, 0x13441...0x13442,
    ]

    @Test func whatUnicodeWantsInvisibleIsShownAndNothingElse() {
        let controls: [ClosedRange<UInt32>] = [0...0x1F, 0x7F...0x9F, 0x2028...0x2029]
        let expected = Set((controls + Self.ignorable + Self.formats + Self.spaces + Self.blanks).joined())
        let unsafe = (0...0x10FFFF).compactMap(Unicode.Scalar.init).filter(\.isUnsafeOnTerminal).map(\.value)
        #expect(Set(unsafe) == expected)
    }

    @Test func bytesThatAreNotUTF8AreShownOneByOne() {
        #expect(escaped([0x61, 0xFF, 0xC3, 0x28, 0xE2, 0x82], Escaping.terminal) == "a\\xff\\xc3(\\xe2\\x82")
        // An overlong slash, and a surrogate.
        #expect(escaped([0xC0, 0xAF], Escaping.terminal) == "\\xc0\\xaf")
        #expect(escaped([0xED, 0xA0, 0x80], Escaping.terminal) == "\\xed\\xa0\\x80")
    }

    @Test func everyCharacterComesBackFromJSON() throws {
        let text =
            ([0...0x2FF] + Self.ignorable + Self.formats + Self.spaces + Self.blanks).joined()
            .compactMap(Unicode.Scalar.init).map(String.init).joined()
            + "\u{2028}\u{1F511}\\\""
        let json = "[\"" + escaped(Array(text.utf8), { Escaping.json($0, $1) }) + "\"]"
        #expect(try JSONDecoder().decode([String].self, from: Data(json.utf8)) == [text])
        #expect(!json.unicodeScalars.contains { $0.isUnsafeOnTerminal })
    }

    @Test func validityOfUTF8() {
        func isValid(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { $0.isUTF8 } }
        #expect(isValid([]))
        #expect(isValid(Array("aü€🔑".utf8)))
        #expect(!isValid([0x80]))
        #expect(!isValid([0xE2, 0x82]))
        #expect(!isValid([0xF5, 0x80, 0x80, 0x80]))
    }

    @Test(arguments: [
        (0.0, "1970-01-01T00:00:00.000Z"),
        (1_769_850_300.12, "2026-01-31T09:05:00.120Z"),
        (951_782_399.999, "2000-02-28T23:59:59.999Z"),
        (-0.001, "1969-12-31T23:59:59.999Z"),
        (-62_135_596_800, "0001-01-01T00:00:00.000Z"),
        (253_402_300_799.999, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800, "unknown"),
    ])
    func times(seconds: Double, expected: String) {
        #expect(Timestamp.text(Date(timeIntervalSince1970: seconds)) == expected)
    }

    @Test(arguments: [
        (0, "0", "0 bytes"), (1, "1", "1 byte"), (999, "999", "999 bytes"), (1_023, "1,023", "1023 bytes"),
        (1_024, "1,024", "1 KiB"), (1_536, "1,536", "1.5 KiB"), (16_384, "16,384", "16 KiB"),
        (1_048_575, "1,048,575", "1,023 KiB"), (67_108_864, "67,108,864", "64 MiB"),
        (5 << 40, "5,497,558,138,880", "5,120 GiB"),
        (.max, "9,223,372,036,854,775,807", "8,589,934,591 GiB"),
    ])
    func quantities(value: Int, number: String, size: String) {
        #expect(Quantity.number(value) == number)
        #expect(Quantity.size(value) == size)
    }

    @Test func attributesAreSplitAtTheFirstEqualsSign() throws {
        #expect(try Attributes.parse(["a=1", "url=x?y=z", "empty="]) == ["a": "1", "url": "x?y=z", "empty": ""])
    }

    @Test(arguments: [
        (["novalue"], UsageError.badAttribute), (["=x"], .badAttribute), (["a=1", "a=2"], .doubledAttribute),
    ])
    func badAttributes(pairs: [String], expected: UsageError) {
        #expect(throws: expected) { try Attributes.parse(pairs) }
    }

    @Test func timeouts() throws {
        func parse(_ text: String) throws(UsageError) -> Duration? {
            try Invocation(command: .list, options: [.timeout: [text]]).lockTimeout
        }
        #expect(try parse("0") == .zero)
        #expect(try parse("2.5") == .milliseconds(2500))
        for text in ["", "-1", "nan", "inf", "1e300", "ten", "1s"] {
            #expect(throws: UsageError.badTimeout, "\(text)") { try parse(text) }
            #expect(throws: UsageError.badTimeout) { try CommandLineParser.parse(["ls", "--timeout=\(text)"]) }
        }
    }

    @Test func wordsAreFoundInNamesInEitherCase() {
        #expect(FindCommand.contains("u.Token", "tok"))
        #expect(FindCommand.contains("u.token", "TOKEN"))
        #expect(FindCommand.contains("u", ""))
        #expect(!FindCommand.contains("u.tok", "token"))
    }

    @Test func paragraphsBreakBetweenWords() {
        let text = TextLayout.wrapped(String(repeating: "word ", count: 20), indent: 4)
        let lines = text.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.hasPrefix("    word") && $0.count <= 80 })
    }

    @Test func aNarrowTerminalGetsItsOwnLines() {
        let text = """
            A paragraph of two lines that
            are one.

            Rows:
              get   the first meaning goes on
                    here
              --an-option  the second one
              a line with no meaning
              -l, --a-long-option=VALUE
                            the third one
                            goes on too

            """
        let narrow = """
            A paragraph of two
            lines that are one.

            Rows:
              get   the first
                    meaning goes on
                    here
              --an-option
                  the second one
              a line with no
              meaning
              -l,
              --a-long-option=VALUE
                  the third one
                  goes on too

            """
        #expect(TextLayout.fitted(text, to: 23) == narrow)
    }

    private func escaped(_ bytes: [UInt8], _ escape: (UnsafeRawBufferPointer, (UInt8) -> Void) -> Void) -> String {
        var result: [UInt8] = []
        bytes.withUnsafeBytes { escape($0) { result.append($0) } }
        return String(decoding: result, as: UTF8.self)
    }
}
