import LinuxSystem

/// The kind of name that a text is, as error messages call it: the name of an entry, or the key of a value in any
/// store. The rule is the same for both.
package enum Naming: String, Sendable {
    case name, key
    /// The key of an attribute. Only attributes that somebody else has written are checked.
    case attribute = "key of an attribute"

    /// - Throws: ``VaultError`` with `invalid` unless the text has 1 to 1,024 bytes of UTF-8 without control
    ///   characters.
    package func check(_ text: String) throws(VaultError) {
        guard NameRule.allows(text) else { throw refusal(of: text) }
    }

    package func refusal(of text: String) -> VaultError {
        let other = "it contains a control character, such as a newline or a tab"
        let reason = text.isEmpty ? "empty" : text.utf8.count > NameRule.maximumSize ? "longer than 1,024 bytes" : other
        return VaultError(.invalid, "Invalid \(rawValue): \(reason).")
    }
}
