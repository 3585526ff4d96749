import TestSupport
import Testing

@testable import SealedFormat

@Suite("Names")
struct EntryNameTests {
    @Test(arguments: [
        "a", " ", "u.token", "ssh/key", "grüße", "日本語", "👩🏽‍🚀", "a\u{301}", "~", "\u{a0}", "\u{200b}",
        String(repeating: "x", count: 1_024), String(repeating: "ü", count: 512),
    ])
    func areAnyTextWithoutControlCharacters(_ text: String) {
        #expect(EntryName(text)?.text == text)
    }

    @Test(arguments: [
        "", "a\n", "\t", "\0", "a\u{1b}[31m", "\u{7f}", "a\u{85}", "\u{9b}", String(repeating: "x", count: 1_025),
        String(repeating: "ü", count: 513),
    ])
    func withControlCharactersOrTheWrongLengthAreRefused(_ text: String) {
        #expect(EntryName(text) == nil)
    }

    @Test func areUTF8() {
        for bytes in [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]] as [[UInt8]] {
            #expect(EntryName(bytes: bytes) == nil)
        }
    }

    @Test func areComparedByTheirBytesAlone() throws {
        // The same letter, composed and not: two names.
        #expect(try EntryName.sample("\u{e9}") != EntryName.sample("e\u{301}"))
        #expect(try EntryName.sample("Z") < .sample("a"))
        #expect(try EntryName.sample("a") < .sample("ab"))
        #expect(try EntryName.sample("z") < .sample("é"))
        #expect(try !(EntryName.sample("a") < .sample("a")))
    }
}
