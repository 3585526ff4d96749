extension Unicode.Scalar {
    /// The number of terminal columns that the character occupies: 0 for combining characters, 2 for East Asian
    /// characters and emoji, otherwise 1. Control characters are not supported.
    fileprivate var columns: Int {
        switch value {
        case ..<0x300: 1
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1B000...0x1B2FF, 0x20000...0x3FFFD:
            2
        default:
            switch properties.generalCategory {
            case .nonspacingMark, .enclosingMark: 0
            default: properties.isEmojiPresentation ? 2 : 1
            }
        }
    }
}

extension StringProtocol {
    var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }

    /// Returns the string or, if it has too many columns, as much of its beginning as fits, with an ellipsis.
    func fitted(to columns: Int) -> String {
        guard self.columns > columns else { return String(self) }
        var kept = String.UnicodeScalarView()
        var used = 0
        for scalar in unicodeScalars {
            guard used + scalar.columns < columns else { break }
            used += scalar.columns
            kept.append(scalar)
        }
        return columns > 0 ? String(kept) + "…" : ""
    }

    /// Returns the string or, if it has too many columns, as much of its end as fits.
    func endFitted(to columns: Int) -> String {
        var start = unicodeScalars.endIndex
        var used = 0
        while start > unicodeScalars.startIndex {
            let before = unicodeScalars.index(before: start)
            used += unicodeScalars[before].columns
            if used > columns { break }
            start = before
        }
        return String(self[start...])
    }
}

extension String {
    /// The string as one line for a terminal: escaped, with spaces instead of newlines and tabs.
    var onOneLine: String {
        let shown = forTerminal
        guard shown.utf8.contains(where: { $0 < 0x20 }) else { return shown }
        return String(String.UnicodeScalarView(shown.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    }
}
