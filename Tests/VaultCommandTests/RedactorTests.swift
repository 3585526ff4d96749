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
        redactor.flush(into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private static let cases: [(secrets: [String], text: String, expected: String)] = [
        (["hunter2"], "hunter2", "********"),
        (["hunter2"], "a hunter2 b hunter2\n", "a ******** b ********\n"),
        (["hunter2"], "hunter hunhunter2 hunter", "hunter hun******** hunter"),
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
                redactor.flush(into: &output)
                #expect(String(decoding: output, as: UTF8.self) == expected, "\(first) \(second)")
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
