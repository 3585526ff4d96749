import Testing

@testable import LinuxSystem

@Suite struct ShellQuotingTests {
    @Test(arguments: [
        ("", "''"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), (#"\$`""#, #"'\$`"'"#), ("a\nb", "'a\nb'"),
    ])
    func shTakesAWordAsItIs(word: String, quoted: String) {
        #expect(ShellQuoting.quoted(word) == quoted)
    }

    @Test(arguments: [("", "''"), ("it's", #"'it\'s'"#), (#"\n$x"#, #"'\\n$x'"#)])
    func fishHasEscapesInQuotationMarks(word: String, quoted: String) {
        #expect(ShellQuoting.quoted(word, for: .fish) == quoted)
    }
}
