package import Sealing

/// Files in the format age-encryption.org/v1 (c2sp.org/age). Such a file consists of a header that wraps a random file
/// key for each recipient, and a payload sealed under that key. Any age program can open it with an identity.
package enum AgeFile {
    /// Returns the encrypted file in its binary form. Any one of the recipients can open it.
    ///
    /// - Throws: `malformed` if there is no recipient or one is invalid; `plugin`, `outOfMemory`.
    package static func seal(
        _ plaintext: borrowing SecretBytes, to recipients: [Recipient], asking prompter: any PluginPrompter
    ) throws(AgeError) -> [UInt8] {
        guard !recipients.isEmpty else { throw .malformed("there is no recipient") }
        let fileKey = try FileKey.generate()
        var stanzas: [Stanza] = []
        for recipient in recipients { stanzas += try Wrapping.wrap(fileKey, to: recipient, asking: prompter) }
        // A plugin may return passphrase stanzas. If the file had other recipients too, a passphrase would no longer
        // authenticate the file's author.
        try checkPassphrases(stanzas)
        return try AgeHeader(stanzas, fileKey).bytes + AgePayload.seal(plaintext, fileKey)
    }

    /// Returns the plaintext of a file in its binary or armored form.
    ///
    /// - Throws: `noMatch` if no identity opens the file; `damaged` if it was changed or truncated; `malformed`,
    ///   `plugin`, `outOfMemory`.
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

    /// Throws if a passphrase is combined with other recipients, which the format forbids.
    private static func checkPassphrases(_ stanzas: [Stanza]) throws(AgeError) {
        guard stanzas.count == 1 || !stanzas.contains(where: { $0.kind == passphraseKind }) else {
            throw .malformed("a passphrase is combined with other recipients")
        }
    }
}
