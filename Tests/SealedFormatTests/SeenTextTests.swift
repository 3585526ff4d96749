import SealedFormat
import Testing

/// Which names of people, keys and drops are accepted for new ones.
@Suite struct SeenTextTests {
    @Test(arguments: [
        "braille \u{2800}", "note \u{1D159}", "filler \u{16FE4}", "hieroglyph \u{13441}", "another \u{13442}",
        "object \u{FFFC}", "note begins \u{FFF9}", "private \u{E000}", "private \u{F8FF}", "plane \u{10FFFD}",
        "unassigned \u{378}", "no character \u{FFFF}", "zero \u{200B}", "mark \u{202E}", "tag \u{E0041}", "null \0",
    ])
    func aCharacterThatIsNotSeenIsFoundWhereverItIs(text: String) throws {
        let scalar = try #require(text.unicodeScalars.last)
        for name in ["\(scalar)", "\(scalar)a", "a\(scalar)", "a\(scalar)b"] {
            #expect(name.unseenPart == "it contains an invisible character")
        }
    }

    @Test func spacesAreToldApart() {
        for name in ["a  b", "a   b", "a b  c"] { #expect(name.unseenPart == "it contains two spaces in a row") }
        for name in [" a", "a ", "  a", " "] { #expect(name.unseenPart == "it begins or ends with a space") }
        for name in ["a\u{A0}b", "a\u{2003}b", "\u{3000}a"] {
            #expect(name.unseenPart == "it contains a space other than U+0020")
        }
    }

    /// Their neighbours in Unicode are ordinary letters and signs.
    @Test(arguments: [
        "ann", "ann m smith", "Zoë", "Zoe\u{308}", "李", "नमस्ते", "\u{2801}", "\u{1D15A}", "\u{13440}", "\u{FFFD}", "🔑",
        "a\"b",
    ]) func aNameThatIsSeenIsAccepted(name: String) { #expect(name.unseenPart == nil) }
}
