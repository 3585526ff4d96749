import Age
import Sealing

/// What finding the key of a vault depends on, besides the places: a part of ``Keychain/Options``.
struct UnlockingOptions: Sendable {
    /// Asks a person for a passphrase; nil if nobody can be asked.
    var passphrase: (@Sendable (_ attempt: Int) throws(VaultError) -> SecretBytes?)?
    /// The fingerprint that a person has compared.
    var fingerprint: String?
    /// Whether a vault that a recipient's key opens has to be known.
    var checksFingerprint = true
    var usesKernelKeyring: Bool
    /// Whether nothing is used that might ask a person: no command, no plugin, no passphrase.
    var asksNobody: Bool
    /// Whether nothing but the key file is tried.
    var triesKeyFileAlone: Bool
    var acceptsSharedKeyFile: Bool
    var pluginPrompter: any PluginPrompter
    var keyFileContents: KeyFileContents?
}
