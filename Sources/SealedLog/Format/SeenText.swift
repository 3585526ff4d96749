// People tell members, keys and what is dropped for them by names that they see. What others could make look like such
// a name is not accepted for a new one.

extension Unicode.Scalar {
    /// Whether a terminal might obey the character, or show the text around it as another text: control characters,
    /// line separators, and what Unicode calls default-ignorable: direction marks, zero-width spaces, fillers. Emoji's
    /// joiners and variation selectors too: two names that look alike are worse than an emoji in pieces.
    @inlinable
    package var isUnsafeOnTerminal: Bool {
        switch value {
        // Most names have only these. A look-up in Unicode's table takes 80 ns, and a list may have a million names.
        case 0x20..<0x7F, 0xAE..<0x34F, 0x3165..<0xFE00: false
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x2029: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }

    /// Whether a person might see nothing there, or what each font shows in its own way: characters without a meaning,
    /// and those that control a text or leave room in it. Unicode has no property for blank ones.
    fileprivate var isUnseen: Bool {
        // Braille, a musical note without a head, a filler, two blank hieroglyphs, and what stands for an object.
        let blank: [UInt32] = [0x2800, 0x1D159, 0x16FE4, 0x13441, 0x13442, 0xFFFC]
        return isUnsafeOnTerminal || blank.contains(value)
            || [.format, .unassigned, .privateUse].contains(properties.generalCategory)
    }
}

extension String {
    /// What is wrong with a text as a name that people tell apart by its looks, as the end of a sentence; nil if
    /// nothing is. Scalars count, not characters: a mark that is not seen makes one character with the letter before
    /// it.
    package var unseenPart: String? {
        let space: Unicode.Scalar = " "
        if unicodeScalars.first == space || unicodeScalars.last == space { return "it begins or ends with a space" }
        if unicodeScalars.contains(where: \.isUnseen) { return "it contains a character that is not seen" }
        if unicodeScalars.split(separator: space, omittingEmptySubsequences: false).dropFirst().dropLast().contains(
            where: \.isEmpty)
        {
            return "it contains two spaces in a row"
        }
        let isOtherSpace = { (scalar: Unicode.Scalar) in
            scalar != space && scalar.properties.generalCategory == .spaceSeparator
        }
        return unicodeScalars.contains(where: isOtherSpace) ? "it contains another space than the usual one" : nil
    }

    /// Whether another text looks the same, or differs by small and capital letters alone.
    package func looksLike(_ other: String) -> Bool { lowercased() == other.lowercased() }
}
