/// Lays plain text out for 80 columns; see ``fitted(_:to:)`` for fewer.
enum TextLayout {
    static let width = 80

    /// Breaks a paragraph into lines between words. Every line is indented.
    static func wrapped(_ text: String, indent: Int) -> String {
        wrapped(text.split(separator: " "), indent: indent, width: width)
    }

    static func wrapped(_ words: [Substring], indent: Int, width: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = margin
        var isEmpty = true
        for word in words {
            if !isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                (line, isEmpty) = (margin, true)
            }
            line += isEmpty ? String(word) : " " + word
            isEmpty = false
        }
        lines.append(line)
        return lines.joined(separator: "\n") + "\n"
    }

    /// Terms and what they mean, the meanings aligned. A term that is too long has its meaning on the next line.
    static func definitions(_ rows: [(term: String, meaning: String)]) -> String {
        let column = min(26, (rows.map(\.term.count).max() ?? 0) + 4)
        return rows.map { term, meaning in
            let start = "  " + term
            guard start.count + 2 <= column else { return start + "\n" + wrapped(meaning, indent: column) }
            let text = wrapped(meaning, indent: column).dropFirst(column)
            return padded(start, to: column) + text
        }.joined()
    }

    /// Labels and facts, one line each: `Label:  fact`.
    static func table(_ rows: [(String, String)]) -> String {
        let column = (rows.map(\.0.count).max() ?? 0) + 3
        return rows.map { padded($0.0 + ":", to: column) + $0.1 + "\n" }.joined()
    }

    static func padded(_ text: String, to width: Int, onLeft: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(0, width - text.count))
        return onLeft ? spaces + text : text + spaces
    }
}
