import Age
package import Sealing

/// The part of ``Keychain/Options`` that finding the key of a vault depends on.
struct UnlockingOptions: Sendable {
    var passphrase: (any PassphrasePrompter)?
    var fingerprint: String?
    var checksFingerprint = true
    var usesKernelKeyring: Bool
    /// Whether nothing is used that might ask a person: no command, no plugin, no passphrase.
    var asksNobody: Bool
    var triesKeyFileAlone: Bool
    var acceptsSharedKeyFile: Bool
    var pluginPrompter: any PluginPrompter
    var keyFileContents: KeyFileContents?
}

package protocol PassphrasePrompter: Sendable {
    /// Returns nil to give up.
    ///
    /// - Parameters:
    ///   - attempt: from 1 on.
    ///   - isUnlocked: looks, after another program has asked before, whether the vault was unlocked meanwhile. Then
    ///     nothing is to be asked.
    func ask(attempt: Int, unless isUnlocked: () -> Bool) throws(VaultError) -> SecretBytes?
}

/// Prompts by the program's closure, which is not aware of other programs' prompts.
struct PlainPrompter: PassphrasePrompter {
    let passphrase: @Sendable (_ attempt: Int) throws(VaultError) -> SecretBytes?

    func ask(attempt: Int, unless isUnlocked: () -> Bool) throws(VaultError) -> SecretBytes? { try passphrase(attempt) }
}
