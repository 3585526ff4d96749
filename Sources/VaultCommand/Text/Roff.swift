/// The roff markup of manual pages, as man(7) describes it.
enum Roff {
    /// Returns the markup for a line of text. Parts between backticks become bold.
    static func text(_ text: String) -> String {
        let pieces = text.split(separator: "`", omittingEmptySubsequences: false)
        guard pieces.count % 2 == 1 else { return line(escaped(text)) }
        let formatted = pieces.enumerated().map { index, piece in
            index % 2 == 0 ? escaped(piece) : "\\fB\(escaped(piece))\\fR"
        }
        return line(formatted.joined())
    }

    static func macro(_ name: String, _ arguments: String...) -> String {
        ".\(name)" + arguments.map { " \"\(escaped($0))\"" }.joined() + "\n"
    }

    /// Returns the markup for a list of terms, each with its meaning below.
    static func definitions(_ rows: [(term: String, meaning: String)]) -> String {
        rows.map { macro("TP") + ".B \"\(escaped($0.term))\"\n" + text($0.meaning) }.joined()
    }

    /// Returns the markup for lines that roff must not reflow.
    static func literal(_ lines: some StringProtocol) -> String {
        let lines = lines.split(separator: "\n", omittingEmptySubsequences: false).map { line(escaped($0)) }
        return macro("nf") + lines.joined() + macro("fi")
    }

    private static func line(_ escaped: String) -> String { (escaped.hasPrefix(".") ? "\\&" : "") + escaped + "\n" }

    /// Returns the number as at least four hexadecimal digits, as roff requires.
    private static func fourDigits(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// Escapes characters that roff would interpret, or would print as other characters.
    private static func escaped(_ text: some StringProtocol) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\e"
            case "-": "\\-"
            case "'": "\\(aq"
            case "`": "\\(ga"
            case "\"": "\\(dq"
            case "^": "\\(ha"
            case "~": "\\(ti"
            case _ where scalar.isASCII: String(scalar)
            default: "\\[u\(fourDigits(scalar.value))]"
            }
        }.joined()
    }
}
