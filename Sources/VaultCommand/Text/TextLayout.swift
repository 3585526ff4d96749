/// The layout of plain text. Paragraphs and rows are lines of any length until ``fitted(_:to:)`` breaks them.
enum TextLayout {
    /// The width of output that does not go to a terminal.
    static let width = 80
    /// The maximum width on a terminal, because longer lines are hard to read.
    static let maximumWidth = 100

    static func wrapped(_ text: String, indent: Int, width: Int = width) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let line = lines.last, line.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(margin + word)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns terms with their meanings aligned in a column. If a term is too long, its meaning is on the next line.
    static func definitions(_ rows: [(term: String, meaning: String)], column: Int? = nil) -> String {
        let column = column ?? self.column(of: rows.map(\.term))
        return rows.map { term, meaning in
            let start = "  " + term
            let isTooLong = start.count + 2 > column
            return (isTooLong ? start + "\n" : "") + padded(isTooLong ? "" : start, to: column) + meaning + "\n"
        }.joined()
    }

    /// Returns the column in which the meanings of `terms` begin.
    static func column(of terms: [String]) -> Int { min(26, (terms.map(\.count).max() ?? 0) + 4) }

    /// Returns one line for each label and fact, in the form `Label:  fact`.
    static func table(_ rows: [(String, String)]) -> String {
        let column = (rows.map(\.0.count).max() ?? 0) + 3
        return rows.map { padded($0.0 + ":", to: column) + $0.1 + "\n" }.joined()
    }

    static func padded(_ text: String, to width: Int, onLeft: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(0, width - text.count))
        return onLeft ? spaces + text : text + spaces
    }

    /// Wraps help text between words, to fit a terminal with `columns` columns; nil stands for ``width``.
    ///
    /// Help text consists of paragraphs (not indented), rows (indented by two columns), which may have a term and a
    /// meaning, and lines that belong to the row above them (indented further).
    static func fitted(_ text: String, to columns: Int? = nil) -> String {
        let width = min(columns ?? width, maximumWidth)
        var rows: [Row] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let row = Row(line)
            if let last = rows.last, row.continues(last) {
                rows[rows.count - 1].words += row.words
            } else {
                rows.append(row)
            }
        }
        return rows.map { $0.text(width) }.joined()
    }

    private struct Row {
        static let indent = 2
        /// The maximum indent of lines that are not reflowed, such as examples, their meanings, and lines of a file.
        static let exampleIndent = 6

        let indent: Int
        let term: [Substring]
        let column: Int
        var words: [Substring]

        init(_ line: Substring) {
            indent = line.prefix { $0 == " " }.count
            let pieces = line.dropFirst(indent).split(separator: " ", omittingEmptySubsequences: false)
            // Two spaces end a term. `split` returns an empty piece between them.
            let gap = indent == Row.indent ? pieces.firstIndex(of: "") ?? 0 : 0
            term = Array(pieces[..<gap])
            words = pieces[gap...].filter { !$0.isEmpty }
            column = gap > 0 ? line.count - words.joined(separator: " ").count : indent
        }

        /// Returns whether this line continues the previous paragraph, or the meaning column of the row `last`.
        func continues(_ last: Row) -> Bool {
            !words.isEmpty && !last.words.isEmpty && indent >= last.column
                && (indent == 0 || last.column > Row.exampleIndent)
        }

        /// Returns the row with its meaning next to the term or, if there is too little space, below it.
        func text(_ width: Int) -> String {
            guard column <= width / 2, column + longest(words) <= width else {
                return (term.isEmpty ? "" : lines(term, indent: indent, width))
                    + lines(words, indent: min(column, Row.exampleIndent), width)
            }
            let start = String(repeating: " ", count: indent) + term.joined(separator: " ")
            return TextLayout.padded(start, to: column) + lines(words, indent: column, width).dropFirst(column)
        }

        /// Breaks words into lines. Reduces the indent if a word would otherwise not fit.
        private func lines(_ words: [Substring], indent: Int, _ width: Int) -> String {
            let indent = max(0, min(indent, width - longest(words)))
            return TextLayout.wrapped(words.joined(separator: " "), indent: indent, width: width)
        }

        private func longest(_ words: [Substring]) -> Int { words.map(\.count).max() ?? 0 }
    }
}

enum Quantity {
    /// Returns the number with its digits in groups of three, as in `4,560`.
    static func number(_ value: some BinaryInteger) -> String {
        let digits = String(value)
        return digits.count <= 3 ? digits : number(value / 1_000) + "," + digits.suffix(3)
    }

    /// Returns `1 entry` or `4,560 entries`.
    static func entries(_ count: Int) -> String { "\(number(count)) \(count == 1 ? "entry" : "entries")" }

    /// Returns a size in the largest unit that yields at least one, such as `512 bytes` or `1.5 KiB`. Numbers below ten
    /// have one decimal place, unless it is zero or the unit is bytes.
    static func size(_ bytes: Int) -> String {
        guard bytes >= 1_024 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        let (unit, scale) = bytes < 1 << 20 ? ("KiB", 1 << 10) : bytes < 1 << 30 ? ("MiB", 1 << 20) : ("GiB", 1 << 30)
        // `bytes * 10` could overflow, because a size read from a vault may be any number.
        let tenths = bytes / scale * 10 + bytes % scale * 10 / scale
        let decimal = tenths < 100 && !tenths.isMultiple(of: 10) ? ".\(tenths % 10)" : ""
        return "\(number(tenths / 10))\(decimal) \(unit)"
    }
}

// Slashes in names separate folders.

extension String {
    var hasSlashAtEnd: Bool { utf8.last == UInt8(ascii: "/") }

    /// The part after the last slash. If the string ends with a slash, this is the folder's name with that slash.
    var lastPathComponent: String {
        let body = hasSlashAtEnd ? utf8.dropLast() : utf8[...]
        guard let slash = body.lastIndex(of: UInt8(ascii: "/")) else { return self }
        return String(self[utf8.index(after: slash)...])
    }
}
