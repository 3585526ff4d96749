// A terminal obeys some characters, and shows others as nothing: of a text that others have written, they are escaped.

extension Unicode.Scalar {
    /// Whether a terminal might obey the character, or show the text around it as another text: control and format
    /// characters (direction marks among them), separators of lines, every space but the usual one, what Unicode calls
    /// default-ignorable (zero-width spaces, fillers), and what is blank. Emoji's joiners and variation selectors too:
    /// two names that look alike are worse than an emoji in pieces.
    @inlinable
    package var isUnsafeOnTerminal: Bool {
        switch value {
        // Most names have only these. A look-up in Unicode's tables takes 80 ns, and a list may have a million names.
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

    /// Unicode has no property for that: Braille, a musical note without a head, a filler, two hieroglyphs.
    @usableFromInline
    package var isBlank: Bool {
        switch value {
        case 0x2800, 0x1D159, 0x16FE4, 0x13441, 0x13442: true
        default: false
        }
    }
}

extension String {
    /// The text in quotation marks, on one line, escaped as in JSON: beside other words it ends where it seems to,
    /// whatever it is.
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
