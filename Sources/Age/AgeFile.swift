package import Sealing

/// Files in the format age-encryption.org/v1 (c2sp.org/age). The header of such a file wraps a random file key for each
/// recipient, and the payload is sealed under that key. Any age program can open the file with a matching identity.
package enum AgeFile {
    /// Returns the encrypted file in its binary form. Any one of the recipients can open it.
    ///
    /// - Throws: `malformed` if there is no recipient or a recipient is invalid; otherwise `plugin` or `outOfMemory`.
    package static func seal(
        _ plaintext: borrowing SecretBytes, to recipients: [Recipient], asking prompter: any PluginPrompter
    ) throws(AgeError) -> [UInt8] {
        guard !recipients.isEmpty else { throw .malformed("there is no recipient") }
        let fileKey = try FileKey.generate()
        var stanzas: [Stanza] = []
        for recipient in recipients { stanzas += try Wrapping.wrap(fileKey, to: recipient, asking: prompter) }
        // A plugin may return a passphrase stanza. If the file had other recipients too, opening it with the passphrase
        // would no longer prove that its author knew the passphrase.
        try checkPassphrases(stanzas)
        return try AgeHeader(stanzas, fileKey).bytes + AgePayload.seal(plaintext, fileKey)
    }

    /// Returns the plaintext of a file in its binary or armored form.
    ///
    /// - Throws: `noMatch` if no identity can open `file`; `damaged` if `file` was changed or truncated; otherwise
    ///   `malformed`, `plugin` or `outOfMemory`.
    package static func open(
        _ file: [UInt8], with identities: borrowing IdentityFile, asking prompter: any PluginPrompter
    ) throws(AgeError) -> SecretBytes {
        let file = try Armor.isArmored(file) ? Armor.removed(from: file) : file
        let header = try AgeHeader(file)
        try checkPassphrases(header.stanzas)
        guard header.stanzas.first?.kind != passphraseKind else {
            throw AgeError(.noMatch, "the file is encrypted with a passphrase, which is not supported")
        }
        guard let fileKey = try Wrapping.unwrap(header.stanzas, with: identities, asking: prompter) else {
            throw AgeError(.noMatch, "none of the identities opens the file")
        }
        try header.check(fileKey)
        return try AgePayload.open(file[header.size...], fileKey)
    }

    private static let passphraseKind = "scrypt"

    /// Throws if a passphrase is combined with other recipients, since the format forbids this.
    private static func checkPassphrases(_ stanzas: [Stanza]) throws(AgeError) {
        guard stanzas.count == 1 || !stanzas.contains(where: { $0.kind == passphraseKind }) else {
            throw .malformed("a passphrase is combined with other recipients")
        }
    }
}
