// Some characters control a terminal, and others are invisible on it. Both kinds are escaped in untrusted text.

extension Unicode.Scalar {
    /// Whether the character can control a terminal, or change how the surrounding text looks. This includes control
    /// and format characters (such as direction marks), line separators, spaces other than U+0020, blank characters,
    /// and characters that Unicode calls default-ignorable, such as zero-width spaces and fillers. The joiners and
    /// variation selectors of emoji are included, because two names that look alike are worse than a split emoji.
    @inlinable
    package var isUnsafeOnTerminal: Bool {
        switch value {
        // Most names contain only these characters. A Unicode lookup takes 80 ns, and a list may have a million names.
        case 0x20..<0x7F, 0xAE..<0x34F, 0x370..<0x600, 0x3165..<0xFE00: false
        default: isUnseenKind || isBlank || properties.isDefaultIgnorableCodePoint
        }
    }

    @usableFromInline
    package var isUnseenKind: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        case .spaceSeparator: true
        default: false
        }
    }

    /// Whether this is one of the blank characters for which Unicode has no property: the blank Braille pattern, a
    /// musical note without a head, a filler, and two hieroglyphic blanks.
    @usableFromInline
    package var isBlank: Bool {
        switch value {
        case 0x2800, 0x1D159, 0x16FE4, 0x13441, 0x13442: true
        default: false
        }
    }
}

extension String {
    /// The text in quotation marks, on one line, escaped as in JSON, so that its end is recognizable in any sentence.
    package var quoted: String {
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.isUnsafeOnTerminal:
                for unit in scalar.utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
                }
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
