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

// MARK: - Narrow terminals

extension TextLayout {
    /// Breaks the lines of help anew for a terminal that is narrower than ``width``: it would break them inside words.
    ///
    /// Help consists of paragraphs without indent, rows with an indent of two, which may have a term and a meaning, and
    /// deeper lines, which belong to the row before them.
    ///
    /// - Parameter columns: the terminal's; nil if the text goes elsewhere.
    static func fitted(_ text: String, to columns: Int?) -> String {
        guard let columns, columns < width else { return text }
        var rows: [Row] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let row = Row(line)
            if let last = rows.last, row.continues(last) {
                rows[rows.count - 1].words += row.words
            } else {
                rows.append(row)
            }
        }
        return rows.map { $0.text(columns) }.joined()
    }

    private struct Row {
        static let indent = 2
        /// What a meaning below its term is indented by.
        static let indentBelow = 6

        let indent: Int
        let term: [Substring]
        /// Where the words begin.
        let column: Int
        var words: [Substring]

        init(_ line: Substring) {
            indent = line.prefix { $0 == " " }.count
            let pieces = line.dropFirst(indent).split(separator: " ", omittingEmptySubsequences: false)
            // Nothing is between two spaces: they end a term.
            if indent == Row.indent, let gap = pieces.firstIndex(of: "") {
                term = Array(pieces[..<gap])
                words = Array(pieces[gap...].drop(while: \.isEmpty))
                column = line.count - words.joined(separator: " ").count
            } else {
                (term, words, column) = ([], pieces.filter { !$0.isEmpty }, indent)
            }
        }

        /// Whether the line goes on with the paragraph or the meaning of the line before it.
        func continues(_ last: Row) -> Bool {
            guard !words.isEmpty, !last.words.isEmpty, indent >= last.column else { return false }
            return indent == 0 || last.column > Row.indent
        }

        /// Returns the row with its meaning beside the term, or below it if there is too little space.
        func text(_ width: Int) -> String {
            guard column <= width / 2, column + longest(words) <= width else {
                return (term.isEmpty ? "" : lines(term, indent: indent, width))
                    + lines(words, indent: min(column, Row.indentBelow), width)
            }
            let start = TextLayout.padded(
                String(repeating: " ", count: indent) + term.joined(separator: " "), to: column)
            return start + lines(words, indent: column, width).dropFirst(column)
        }

        /// Breaks words into lines. The indent gives way to a word that needs the whole line.
        private func lines(_ words: [Substring], indent: Int, _ width: Int) -> String {
            TextLayout.wrapped(words, indent: max(0, min(indent, width - longest(words))), width: width)
        }

        private func longest(_ words: [Substring]) -> Int { words.map(\.count).max() ?? 0 }
    }
}
