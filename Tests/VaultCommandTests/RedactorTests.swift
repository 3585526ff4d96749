import Sealing
import TestSupport
import Testing
import Vault

@testable import VaultCommand

@Suite struct RedactorTests {
    private func patterns(_ secrets: [String]) throws -> [Redactor.Pattern] {
        try secrets.flatMap { try Redactor.patterns(for: SecretBytes(utf8: $0)) }
    }

    private func redacted(_ pieces: [String], hiding secrets: [String]) throws -> String {
        var redactor = Redactor(try patterns(secrets))
        var output: [UInt8] = []
        for piece in pieces { Array(piece.utf8).withUnsafeBytes { redactor.redact($0, into: &output) } }
        redactor.finish(into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private static let cases: [(secrets: [String], text: String, expected: String)] = [
        (["hunter2"], "hunter2", "********"),
        (["hunter2"], "a hunter2 b hunter2\n", "a ******** b ********\n"),
        (["hunter2"], "hunter hunhunter2 hunter", "hunter hun******** ********"),
        (["hunter2"], "hunter2hunter2", "****************"),
        (["aab"], "aaaab aaab aa", "aa******** a******** aa"),
        (["abcabd"], "abcabcabd", "abc********"),
        (["aa"], "aaaaa b", "******** b"),
        (["abcdef", "cd"], "abcdef abcdx cd", "******** ab********x ********"),
        (["abcd", "cdef"], "abcdef cdab", "******** cdab"),
        (["ab", "abc"], "abx abcx", "********x ********x"),
        (["abab"], "ababab abaab", "******** abaab"),
        (["x", ""], "a x", "a ********"),
        (["ü🔑"], "ü🔑 ü ", "******** ü "),
        (["line one\nline two\n"], "line one\r\nline two\r\n", "********\r\n"),
        (["line one\nline two\nx"], "line one\nline two\nx|line two|x", "********|********|x"),
        (["1\n2"], "1\r\n2 1 2", "******** 1 2"),
        (["1\r\n2"], "1\r\r\n2 1\r\n2 1\n2 1\r2 12", "******** ******** ******** 1\r2 12"),
        (["1\n2\r3\r\n4"], "1\n2\n3\n4|1\r\n2\r\n3\r\n4|1\r2\r3", "********|********|1\r2\r3"),
        (["token12345678\r\n"], "token12345678\n token1234567 ", "********\n token1234567 "),
        (["\u{FEFF} \tkey\u{A0}\r\n\n"], "key|\u{FEFF} \tkey\u{A0}\r\n|ke", "********|********\n|ke"),
        (
            ["\u{FEFF}first-line\r\n\r\n\tsecond-line \r\nthird"], "second-line\nfirst-line\nthird",
            "********\n********\nthird"
        ),
        (["12345678\r1234567"], "12345678|1234567|12345678\r1234567|", "********|1234567|********|"),
        ([" \n 12345678 \n "], "12345678 1234567 ", "******** 1234567 "),
        (["  "], "a  b a b", "a********b a b"),
        (["\n\n"], "\n\n\n", "\n\n\n"),
        (["secret"], "secre", "********"),
        (["secret"], "secr", "********"),
        (["secret"], "sec", "sec"),
        (["secret", "cretan"], "secreta", "********"),
        (["abcabcabc"], "abcabcabcabc", "********"),
        ([], "nothing", "nothing"),
    ]

    @Test(arguments: cases) func eachOccurrenceIsReplaced(secrets: [String], text: String, expected: String) throws {
        #expect(try redacted([text], hiding: secrets) == expected)
    }

    @Test(arguments: cases) func whereverTheTextIsCut(secrets: [String], text: String, expected: String) throws {
        let bytes = Array(text.utf8)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                var redactor = Redactor(try patterns(secrets))
                var output: [UInt8] = []
                for piece in [bytes[..<first], bytes[first..<second], bytes[second...]] {
                    Array(piece).withUnsafeBytes { redactor.redact($0, into: &output) }
                }
                redactor.finish(into: &output)
                #expect(String(decoding: output, as: UTF8.self) == expected, "\(first) \(second)")
            }
        }
    }

    @Test func whatIsShownOfTheBeginningStaysLittleAtTheEndToo() throws {
        var redactor = Redactor(try patterns(["a long secret"]))
        var output: [UInt8] = []
        Array("a l".utf8).withUnsafeBytes { redactor.redact($0, into: &output) }
        redactor.flush(into: &output)
        Array("ong".utf8).withUnsafeBytes { redactor.redact($0, into: &output) }
        redactor.finish(into: &output)
        #expect(String(decoding: output, as: UTF8.self) == "a l********")
    }

    // MARK: A model

    @Test(arguments: 0..<500) func itDoesAsAModelThatSeesTheWholeText(seed: Int) throws {
        var generator = SeededGenerator(seed)
        let secrets = (0..<Int.random(in: 1...3, using: &generator)).map { _ in Self.text(upTo: 14, &generator) }
        let patterns = try patterns(secrets)
        let texts = patterns.map { $0.text.unsafeArray() }
        var text: [UInt8] = []
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let piece = Bool.random(using: &generator) ? texts.randomElement(using: &generator) : nil
            guard let piece else {
                text += Self.text(upTo: 5, &generator).utf8
                continue
            }
            text += piece.prefix(
                Bool.random(using: &generator) ? piece.count : .random(in: 0...piece.count, using: &generator))
        }
        var redactor = Redactor(patterns)
        var output: [UInt8] = []
        var rest = text[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(Int.random(in: 1...6, using: &generator)))
            piece.withUnsafeBytes { redactor.redact($0, into: &output) }
            rest = rest.dropFirst(piece.count)
        }
        redactor.finish(into: &output)
        let expected = Self.redacted(text, texts)
        #expect(output == expected, "\(secrets) \(String(decoding: text, as: UTF8.self))")
    }

    /// Of few letters, so that much of it is found again.
    private static func text(upTo count: Int, _ generator: inout SeededGenerator) -> String {
        let letters = "aaabbc  \n\r\u{A0}".unicodeScalars.map(Character.init)
        return String(
            (0..<Int.random(in: 0...count, using: &generator)).map { _ in letters.randomElement(using: &generator)! })
    }

    private static func redacted(_ text: [UInt8], _ patterns: [[UInt8]]) -> [UInt8] {
        var hidden: [Range<Int>] = []
        for pattern in patterns {
            for start in text.indices where text[start...].starts(with: pattern) {
                hidden.append(start..<start + pattern.count)
            }
        }
        let beginning = (4...max(4, text.count)).last { count in
            count <= text.count
                && patterns.contains { $0.count > count && text.suffix(count).elementsEqual($0.prefix(count)) }
        }
        if let beginning { hidden.append(text.count - beginning..<text.count) }
        hidden.sort { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
        var output: [UInt8] = []
        var position: Int = 0
        while let range = hidden.first {
            var end = range.upperBound
            while let next = hidden.first, next.lowerBound < end {
                end = max(end, next.upperBound)
                hidden.removeFirst()
            }
            output += text[position..<range.lowerBound] + Array("********".utf8)
            position = end
        }
        return output + text[position...]
    }

    /// What programs do with a value before they print it, and how. None of it leaves a line of 8 bytes or more.
    @Test(arguments: 0..<200) func noLineOfAValueIsShownHoweverItIsPrinted(seed: Int) throws {
        var generator = SeededGenerator(seed)
        let spaces = ["", "", " ", "\t", "\u{FEFF}", "\u{3000} ", "\u{B}"]
        let ends = ["\n", "\r\n", "\r", "\n\n"]
        let lines = (0..<Int.random(in: 1...4, using: &generator)).map { "line-\(seed)-\($0)-end" }
        let value = lines.map { line in
            spaces.randomElement(using: &generator)! + line + spaces.randomElement(using: &generator)!
                + ends.randomElement(using: &generator)!
        }.joined()
        for end in ["\n", "\r\n", "\r", "", " "] {
            for printed in [value, lines.joined(separator: end), lines.joined(separator: end) + end] {
                let shown = try redacted([printed], hiding: [value])
                #expect(!lines.contains { shown.contains($0) } && !shown.contains("line"), "\(Array(printed.utf8))")
            }
        }
    }

    @Test(arguments: [
        ("ab", "a", false), ("abc", "a", true), ("hunter2", "hu", true), ("hunter2", "hun", false),
        ("a long secret", "a l", true), ("a long secret", "a lo", false), ("a long secret", "along", false),
    ])
    func onlyAFewBytesOfASecretCountAsLittle(secret: String, text: String, isLittle: Bool) throws {
        var redactor = Redactor(try patterns([secret]))
        var output: [UInt8] = []
        Array(text.utf8).withUnsafeBytes { redactor.redact($0, into: &output) }
        #expect(redactor.holdsLittle == isLittle)
    }

    @Test func nothingIsHeldBackLongerThanItMayBecomeASecret() throws {
        var redactor = Redactor(try patterns(["hunter2"]))
        var output: [UInt8] = []
        func take(_ text: String) -> String {
            output = []
            Array(text.utf8).withUnsafeBytes { redactor.redact($0, into: &output) }
            return String(decoding: output, as: UTF8.self)
        }
        #expect(take("password: h") == "password: ")
        #expect(redactor.holdsLittle)
        redactor.flush(into: &output)
        #expect(!redactor.holdsLittle)
        #expect(take("unter2 hunt") == "******** ", "the rest of a secret of which little was shown is hidden")
        #expect(!redactor.holdsLittle, "more than a few bytes are no accident")
        #expect(take("ed") == "hunted")
    }
}
