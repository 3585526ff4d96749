import SealedLog

/// What a text names: an entry of a keychain, or a value of any store. The rule is the same for both; a person knows
/// the one as a name, the other as a key.
package enum Naming: String, Sendable {
    case name, key
    /// The key of an attribute. Only what others have written is checked.
    case attribute = "key of an attribute"

    /// - Throws: ``VaultError`` with `invalid` unless the text has 1 to 1,024 bytes of UTF-8 without control
    ///   characters.
    package func check(_ text: String) throws(VaultError) {
        guard Naming.isValid(text) else { throw refusal(of: text) }
    }

    /// Checks a name that somebody else is to tell from others by its looks.
    ///
    /// - Throws: as ``check(_:)``; `invalid` for one that begins or ends with a space, or has a character that is not
    ///   seen.
    package func checkLooks(_ text: String) throws(VaultError) {
        try check(text)
        if let unseen = text.unseenPart {
            throw VaultError(.invalid, "Invalid \(rawValue): \(unseen), so that it may look like another one.")
        }
    }

    static func isValid(_ text: String) -> Bool { EntryName.isValid(text) }

    func refusal(of text: String) -> VaultError {
        let other = "it contains a control character, such as a newline or a tab"
        let reason = text.isEmpty ? "empty" : text.utf8.count > Limits.nameSize ? "longer than 1,024 bytes" : other
        return VaultError(.invalid, "Invalid \(rawValue): \(reason).")
    }
}
