// People recognize members, keys and drops by name. A new name is refused if it could be mistaken for another name.

import LinuxSystem

extension Unicode.Scalar {
    /// Whether the character may be invisible, or may look different from font to font. This includes unassigned and
    /// private-use characters, and control and separator characters. Spaces are checked elsewhere.
    fileprivate var isUnseen: Bool {
        let category = properties.generalCategory
        // U+FFFC, the object replacement character, looks different from font to font.
        return isUnsafeOnTerminal && category != .spaceSeparator || value == 0xFFFC
            || [.unassigned, .privateUse].contains(category)
    }
}

extension String {
    /// The reason why the string could be mistaken for another name, worded to follow "because"; nil if there is none.
    /// Scalars are checked, because an invisible mark and the letter before it form one Swift character.
    package var unseenPart: String? {
        let space: Unicode.Scalar = " "
        if unicodeScalars.first == space || unicodeScalars.last == space { return "it begins or ends with a space" }
        if unicodeScalars.contains(where: \.isUnseen) { return "it contains an invisible character" }
        if unicodeScalars.split(separator: space, omittingEmptySubsequences: false).dropFirst().dropLast().contains(
            where: \.isEmpty)
        {
            return "it contains two spaces in a row"
        }
        let isOtherSpace = { (scalar: Unicode.Scalar) in
            scalar != space && scalar.properties.generalCategory == .spaceSeparator
        }
        return unicodeScalars.contains(where: isOtherSpace) ? "it contains a space other than U+0020" : nil
    }

    /// Returns whether two strings are equal, ignoring case.
    package func looksLike(_ other: String) -> Bool { lowercased() == other.lowercased() }
}
