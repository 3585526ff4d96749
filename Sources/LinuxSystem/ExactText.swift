/// A text that is compared by its bytes, as programs outside Swift compare names, hosts and commands.
///
/// Swift's `==` compares by canonical equivalence: U+212A, the Kelvin sign, equals K; U+037E, the Greek question mark,
/// equals a semicolon; an accented letter equals a letter followed by its accent. Sets, dictionaries and `hasPrefix`
/// compare in the same way.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactText, right: ExactText) -> Bool { left.text.isSame(as: right.text) }

    package func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}

extension String? {
    /// Whether both texts are nil or have the same bytes.
    package func isSame(as other: String?) -> Bool { map(ExactText.init) == other.map(ExactText.init) }
}

extension StringProtocol {
    /// Whether another text has the same bytes.
    package func isSame(as other: (some StringProtocol)?) -> Bool { other.map { utf8.elementsEqual($0.utf8) } ?? false }

    /// Whether the text's bytes start with those of another one.
    package func begins(with start: some StringProtocol) -> Bool { utf8.starts(with: start.utf8) }
}
