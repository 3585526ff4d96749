import Age
import Testing

@Suite("Armored age files")
struct ArmorTests {
    private func armor() throws -> String { String(decoding: try Fixture.bytes("armored.age"), as: UTF8.self) }

    @Test func openWithWhiteSpaceAroundThemAndWithEitherLineEnds() throws {
        let text = try armor()
        let last = try #require(text.split(separator: "\n").dropLast().last)
        #expect(last.count < 64)
        for accepted in [text, " \n\n" + text + "\t\n", text.replacing("\n", with: "\r\n"), String(text.dropLast())] {
            #expect(try opened(Array(accepted.utf8), with: Fixture.identities("one")) == Fixture.plaintext)
        }
    }

    @Test func thatNoEncoderWritesAreRefused() throws {
        let text = try armor()
        let lines = text.split(separator: "\n").map(String.init)
        func joined(_ lines: [String]) -> String { lines.joined(separator: "\n") + "\n" }
        let begin = lines[0]
        for refused in [
            begin + "\n", joined(lines.dropLast()), joined([begin] + lines), joined(lines + [lines[1]]),
            joined([begin, ""] + lines.dropFirst()), joined([begin, "Comment: x", ""] + lines.dropFirst()),
            joined([begin, lines[1].prefix(32) + "\n" + lines[1].dropFirst(32)] + lines.dropFirst(2)),
            joined([begin, " " + lines[1]] + lines.dropFirst(2)), text.replacing("=", with: ""),
            text.replacing("END AGE", with: "END age"), text.replacing("\n", with: "\n\n"),
            joined(Array(lines.dropLast()) + [lines.last.map { $0 + " x" } ?? ""]),
        ] {
            let error = try failure { _ = try opened(Array(refused.utf8), with: Fixture.identities("one")) }
            #expect(error == AgeError(.malformed, "the armor of the file is invalid"), "\(refused)")
        }
    }
}
