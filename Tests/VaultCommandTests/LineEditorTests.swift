import Testing

@testable import VaultCommand

@Suite struct LineEditorTests {
    @Test(arguments: [
        ("token\n", "token"), ("token\r", "token"), ("tokem\u{7f}n\n", "token"), ("tokem\u{8}n\n", "token"),
        ("wrong\u{15}token\n", "token"), ("aü€\u{7f}\u{7f}\n", "a"), ("\u{7f}\u{7f}a\n", "a"), ("half\u{4}", "half"),
        ("tab\tstays\n", "tab\tstays"),
    ])
    func aHiddenLineCanBeEdited(typed: String, expected: String) {
        #expect(line(typed) == .init(expected))
    }

    @Test(arguments: [
        ("one two\u{17}\n", "one "), ("one two  \u{17}\n", "one "), ("one\ttwo\u{17}\u{17}three\n", "three"),
        ("\u{17}a\n", "a"), ("ü €\u{17}a\n", "ü a"),
    ])
    func ctrlWErasesTheLastWord(typed: String, expected: String) {
        #expect(line(typed) == .init(expected))
    }

    @Test(arguments: [
        ("a\u{16}\u{4}b\n", "a\u{4}b"), ("\u{16}\u{4}\n", "\u{4}"), ("\u{16}\u{1b}[A\n", "\u{1b}[A"),
        ("\u{16}\u{16}\n", "\u{16}"), ("\u{16}\0\u{16}\n\n", "\0\n"), ("\u{16}ü\u{7f}a\n", "a"),
    ])
    func ctrlVTakesTheNextByteAsItIs(typed: String, expected: String) {
        #expect(line(typed) == .init(expected))
    }

    @Test(arguments: [UInt8](0..<0x20).filter { !Self.controlsWithAMeaning.contains($0) })
    func otherControlCharactersAreIgnored(byte: UInt8) {
        #expect(line("a" + String(UnicodeScalar(byte)) + "b\n") == .init("ab"))
    }

    @Test(arguments: [
        // Arrows, Home, End, Delete, F1 and F5 of several terminals; with Shift and Ctrl; rxvt's, the Linux console's.
        "[A", "[D", "OA", "[H", "OF", "[1~", "[3~", "OP", "[15~", "[1;2C", "[1;5D", "O5A", "[3;5~", "[Z", "[7$", "[8^",
        "[[A",
        "[I", "[<0;10;20M", "[200~", "[201~",
        // With Alt.
        "x", " ", "ü", "€", "🔑", "~", "\u{1b}[A", "\u{1b}OA",
    ])
    func keysThatAreNotTextAreIgnored(key: String) {
        #expect(line("a\u{1b}\(key)b\n") == .init("ab"))
        #expect(line("\u{1b}\(key)\u{1b}\(key)\n") == .init(""))
    }

    @Test(arguments: ["\u{1b}", "\u{1b}[", "\u{1b}[1;", "\u{1b}O"])
    func aControlKeyKeepsItsMeaningInWhatLooksLikeASequence(start: String) {
        #expect(line("ab" + start + "\n") == .init("ab"))
        #expect(line("ab" + start + "\u{7f}c\n") == .init("ac"))
        #expect(line(start + "\u{4}") == .init("", .cancelled))
        #expect(line("a" + start + "\u{1b}[Ab\n") == .init("ab"))
    }

    @Test func theKeyEscAloneIsIgnoredAfterAPause() {
        #expect(line("a\u{1b}", thenAfterAPause: "[b\n") == .init("a[b"))
        #expect(line("a\u{1b}[1", thenAfterAPause: "~b\n") == .init("ab"), "the rest of a sequence may be late")
    }

    @Test func aPasteIsTheSameWithItsMarksAndWithout() {
        #expect(line("\u{1b}[200~tok en\t\u{1b}[201~\n") == .init("tok en\t"))
        #expect(line("\u{1b}[200~token\n") == .init("token"))
    }

    @Test func ctrlDCancelsAnEmptyLineAlone() {
        #expect(line("\u{4}") == .init("", .cancelled))
        #expect(line("a\u{7f}\u{4}") == .init("", .cancelled))
        #expect(line("a\u{15}\u{4}") == .init("", .cancelled))
        #expect(line("\u{1b}[A\u{4}") == .init("", .cancelled))
        #expect(line("a\u{4}") == .init("a"))
    }

    @Test func aKeyThatTheTerminalHasTurnedOffIsIgnored() {
        let none = LineEditor.Keys(erase: 0, eraseWord: 0, eraseLine: 0, literal: 0, endOfFile: 0)
        #expect(line("a\0b\u{4}\u{15}\u{16}\u{17}c\u{7f}\n", none) == .init("ab"))
        #expect(line("\0\n", none) == .init(""))
    }

    private static let controlsWithAMeaning: [UInt8] = [0x04, 0x08, 0x09, 0x0A, 0x0D, 0x15, 0x16, 0x17, 0x1B]

    private struct Line: Equatable {
        var text: String
        var outcome: LineEditor.Outcome

        init(_ text: String, _ outcome: LineEditor.Outcome = .finished) {
            self.text = text
            self.outcome = outcome
        }
    }

    /// What the keys leave in the line. Only the last one may end it.
    private func line(
        _ typed: String, thenAfterAPause rest: String = "",
        _ keys: LineEditor.Keys = .init(erase: 0x7F, eraseWord: 0x17, eraseLine: 0x15, literal: 0x16, endOfFile: 0x04)
    ) -> Line {
        var editor = LineEditor(keys: keys)
        var outcomes: [LineEditor.Outcome] = []
        let text = withUnsafeTemporaryAllocation(byteCount: (typed + rest).utf8.count, alignment: 1) { line in
            var used = 0
            for (index, byte) in (typed + rest).utf8.enumerated() {
                if index == typed.utf8.count, editor.awaitsEscape { editor.endEscape() }
                line[used] = byte
                outcomes.append(editor.takeByte(line, &used))
            }
            return String(decoding: line[..<used], as: UTF8.self)
        }
        #expect(outcomes.dropLast().allSatisfy { $0 == .goesOn })
        return Line(text, outcomes.last ?? .goesOn)
    }
}
