// Members, keys and drops are recognized by names that a person reads. A new name is refused if it could be mistaken
// for another one.

import LinuxSystem

extension Unicode.Scalar {
    /// Whether the character may be invisible, or drawn differently in each font: characters without a meaning, and
    /// those that control or separate text. Spaces are checked elsewhere.
    fileprivate var isUnseen: Bool {
        let category = properties.generalCategory
        // Each font draws the object replacement character in its own way.
        return isUnsafeOnTerminal && category != .spaceSeparator || value == 0xFFFC
            || [.unassigned, .privateUse].contains(category)
    }
}

extension String {
    /// The reason why a text cannot be a name that people recognize by its look, as the end of a sentence; nil if it
    /// can. It checks scalars, since an invisible mark forms one character with the letter before it.
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

    /// Returns whether another text looks the same, apart from upper and lower case.
    package func looksLike(_ other: String) -> Bool { lowercased() == other.lowercased() }
}
