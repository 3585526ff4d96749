/// A string that is compared byte by byte, as programs in other languages compare names, hosts and commands.
///
/// Swift's `==`, sets, dictionaries and `hasPrefix` compare by canonical equivalence. They equate the Kelvin sign
/// U+212A with K, the Greek question mark U+037E with a semicolon, and an accented letter with its decomposed form.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactText, right: ExactText) -> Bool { left.text.isSame(as: right.text) }

    package func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}

extension String? {
    /// Returns whether both strings are nil or have the same bytes.
    package func isSame(as other: String?) -> Bool { map(ExactText.init) == other.map(ExactText.init) }
}

extension StringProtocol {
    /// Returns whether another string has the same bytes.
    package func isSame(as other: (some StringProtocol)?) -> Bool { other.map { utf8.elementsEqual($0.utf8) } ?? false }

    /// Returns whether this string's bytes start with the bytes of `start`.
    package func begins(with start: some StringProtocol) -> Bool { utf8.starts(with: start.utf8) }
}
