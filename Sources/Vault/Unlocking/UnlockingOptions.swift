import Age

/// The part of ``Keychain/Options`` that controls the search for a vault's key.
struct UnlockingOptions: Sendable {
    var passphrase: (any PassphrasePrompter)?
    var fingerprint: String?
    var checksFingerprint = true
    var usesKernelKeyring: Bool
    /// Whether to skip everything that may prompt a person: commands, plugins and passphrases.
    var asksNobody: Bool
    var triesKeyFileAlone: Bool
    var acceptsSharedKeyFile: Bool
    var pluginPrompter: any PluginPrompter
    var keyFileContents: KeyFileContents?
}

package protocol PassphrasePrompter: Sendable {
    /// Prompts for a passphrase. Returns nil to give up.
    ///
    /// - Parameters:
    ///   - attempt: the number of the attempt, from 1.
    ///   - isUnlocked: checks whether the vault was unlocked in the meantime. A prompter that has waited for another
    ///     program's prompt calls this closure, and does not prompt if the vault is unlocked.
    func ask(attempt: Int, unless isUnlocked: () -> Bool) throws(VaultError) -> SecretBytes?
}

/// A prompter that calls a closure supplied by the program. It does not wait for other programs' prompts.
struct PlainPrompter: PassphrasePrompter {
    let passphrase: @Sendable (_ attempt: Int) throws(VaultError) -> SecretBytes?

    func ask(attempt: Int, unless isUnlocked: () -> Bool) throws(VaultError) -> SecretBytes? { try passphrase(attempt) }
}
