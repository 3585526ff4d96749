import LinuxSystem
import Testing

@testable import VaultCommand

@Suite struct PickingTests {
    @Test(arguments: [
        ("wgh", "web/github.com", true), ("git", "web/github.com", true), ("", "anything", true),
        ("hgw", "web/github.com", false), ("web/github.com/", "web/github.com", false), ("aa", "a", false),
        ("é", "Café", true), ("日語", "web/日本語", true),
    ])
    func aQueryMatchesItsCharactersInTheirOrder(query: String, text: String, matches: Bool) {
        #expect((score(query, text) != nil) == matches)
    }

    @Test func upperAndLowerCaseAreTheSame() {
        #expect(score("GIT", "web/GitHub") == score("git", "web/github"))
        #expect(score("ÜB", "web/über") != nil)
    }

    @Test(arguments: [
        // Starts of words; neighbours; short gaps; the best of several places.
        ("gh", "web/git-hub", "web/afghan"), ("mail", "mail", "m-xaxixl"), ("ab", "xaxb", "xaxxxxb"),
        ("git", "gxixt/git", "gxixt/gxixt"), ("w", "a/web", "aweb"), ("ab", "ab/x", "a/bx"),
    ])
    func aBetterMatchHasAHigherScore(query: String, better: String, worse: String) throws {
        #expect(try #require(score(query, better)) > #require(score(query, worse)))
    }

    @Test func allWordsMustMatchTheNameOrAnAttribute() {
        var list = PickList([
            .init(name: "web/github.com", attributes: ["mia"]), .init(name: "web/gitlab.com", attributes: ["otto"]),
            .init(name: "mia/notes"),
        ])
        #expect(type("web otto", &list) == ["web/gitlab.com"])
        #expect(list.take(.eraseLine) == .goesOn && type("mia", &list) == ["mia/notes", "web/github.com"])
        #expect(type(" nothing", &list) == [])
    }

    @Test func anErasedCharacterBringsNamesBack() {
        var list = PickList([.init(name: "abc"), .init(name: "abd")])
        #expect(type("abc", &list) == ["abc"])
        #expect(list.take(.erase) == .goesOn && list.matchingNames == ["abc", "abd"])
    }

    @Test func theSelectedNameStaysOnThePage() {
        var list = PickList((0..<100).map { .init(name: "name \($0)") })
        #expect(list.lines(columns: 80, rows: 24).names.count == 10)
        for _ in 0..<10 { _ = list.take(.down) }
        #expect(list.lines(columns: 80, rows: 24).names.first == "> name 10")
        for _ in 0..<200 { _ = list.take(.down) }
        #expect(list.lines(columns: 80, rows: 4).names == ["> name 99"])
        #expect(list.take(.enter) == .chosen("name 99"))
    }

    @Test(arguments: 0...24)
    func noLineIsWiderThanTheTerminal(columns: Int) {
        var list = PickList([
            .init(name: "web/日本語日本語日本語", attributes: ["two\nlines"]), .init(name: "e\u{301}e\u{301}e\u{301}"),
            .init(name: "🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑"), .init(name: "\u{202e}evil"),
        ])
        _ = type("e", &list)
        _ = type("日本語日本語日本語日本語", &list)
        let shown = list.lines(columns: columns, rows: 24)
        let others = PickList([.init(name: "日本語🔑日本語🔑日本語🔑", attributes: ["\u{1b}[31m"])])
        for line in [shown.query] + shown.names + others.lines(columns: columns, rows: 24).names {
            #expect(line.columns <= max(columns - 1, 1))
            #expect(line.unicodeScalars.allSatisfy { !$0.isUnsafeOnTerminal })
        }
        #expect(shown.cursor == shown.query.columns)
    }

    @Test func tenThousandNamesAreSearchedForEachKey() {
        var list = PickList((0..<10_000).map { .init(name: "site/\($0)/example-\($0 * 7_919 % 10_007)") })
        #expect(type("site/9999", &list).first == "site/9999/example-6697")
    }

    @Test(
        arguments: [
            ("a", [.text("a")]), ("\u{1b}[A", [.up]), ("\u{1b}OB", [.down]), ("\u{1b}[1;5A", [.up]), ("\u{1b}[5~", []),
            ("\u{1b}x", []), ("\u{1b}ü", []), ("ü", [.text("ü")]), ("🔑\r", [.text("🔑"), .enter]),
            ("\u{10}\u{e}\u{15}\u{17}\u{7f}\u{8}", [.up, .down, .eraseLine, .eraseWord, .erase, .erase]),
            ("\u{3}\u{4}", [.cancel, .cancel]), ("\0\u{1}\u{202e}", []), ("\u{1b}\u{1b}", [.cancel]),
        ] as [(String, [KeyDecoder.Key])])
    func bytesBecomeKeys(typed: String, keys: [KeyDecoder.Key]) {
        var decoder = KeyDecoder()
        #expect(typed.utf8.compactMap { decoder.take($0) } == keys)
    }

    @Test func bytesThatAreNoCharacterDoNotSwallowTheNextKey() {
        var decoder = KeyDecoder()
        let keys = [0xC3, 0x0D, 0xFF, 0xFF, 0x61, 0xE2, 0x82, 0x62].compactMap { decoder.take($0) }
        #expect(keys == [.enter, .text("a"), .text("b")])
    }

    private func score(_ query: String, _ text: String) -> Int? {
        FuzzyMatch.score(FuzzyMatch.characters(query), in: FuzzyMatch.characters(text))
    }

    private func type(_ text: String, _ list: inout PickList) -> [String] {
        for scalar in text.unicodeScalars { _ = list.take(.text(scalar)) }
        return list.matchingNames
    }
}
