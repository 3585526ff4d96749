// People tell members, keys and what is dropped for them by names that they see. What others could make look like such
// a name is not accepted for a new one.

import LinuxSystem

extension Unicode.Scalar {
    /// Whether a person might see nothing there, or what each font shows in its own way: characters without a meaning,
    /// and those that control a text or leave room in it. Spaces are another matter.
    fileprivate var isUnseen: Bool {
        let category = properties.generalCategory
        // What stands for an object is drawn in each font's own way.
        return isUnsafeOnTerminal && category != .spaceSeparator || value == 0xFFFC
            || [.unassigned, .privateUse].contains(category)
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
