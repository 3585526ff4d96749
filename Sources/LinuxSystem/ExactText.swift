/// A text that is compared by its bytes, as programs outside of Swift compare names, hosts and commands.
///
/// Swift's `==` takes two spellings of a character for one: U+212A, the sign for kelvin, for K; U+037E, the Greek
/// question mark, for a semicolon; an accented letter for a letter and its accent. So do its sets, dictionaries and
/// `hasPrefix`.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactText, right: ExactText) -> Bool { left.text.isSame(as: right.text) }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

extension String? {
    /// Whether neither is a text, or both are of the same bytes.
    package func isSame(as other: String?) -> Bool { map(ExactText.init) == other.map(ExactText.init) }
}

extension StringProtocol {
    /// Whether another text has the same bytes.
    package func isSame(as other: (some StringProtocol)?) -> Bool {
        other.map { utf8.elementsEqual($0.utf8) } ?? false
    }

    /// Whether the text's bytes begin with those of another one.
    package func begins(with start: some StringProtocol) -> Bool { utf8.starts(with: start.utf8) }
}
