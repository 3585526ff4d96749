public import Age
import LinuxSystem
import SealedLog

extension Keychain {
    /// Settings for opening a keychain.
    public struct Options: Sendable {
        /// How long a call waits for other processes before it throws ``VaultError/Code/busy``. For a vault in a
        /// database, this is also the timeout for connections and server replies, but at least one second.
        public var lockTimeout: Duration = .seconds(10)
        /// The rollback alarms that a person has examined: ``VaultError/Code/rolledBack``, ``VaultError/Code/diverged``
        /// or ``VaultError/Code/exchanged``. Instead of raising them, the keychain accepts and remembers the vault.
        public var acceptedAlarms: Set<VaultError.Code> = []
        /// A closure that prompts for the passphrase if no other key opens the vault. It is called until a passphrase
        /// opens the vault, and no lock is held while it runs. It receives the attempt's number, from 1, and returns
        /// nil to give up. If it throws, opening fails. Without a closure, needing a passphrase throws `locked`.
        public var passphrase: (@Sendable (_ attempt: Int) throws(VaultError) -> SecretBytes?)?
        /// The object that prompts for the passphrase. If set, it is used instead of ``passphrase``.
        package var passphrasePrompter: (any PassphrasePrompter)?
        /// The fingerprint that a person has verified, for a vault that is opened with an age identity. The vault is
        /// opened only if it has this fingerprint, which this machine then remembers.
        public var fingerprint: String?
        /// Whether a key that ``Keychain/VaultKeys/unlock(for:onlyInThisSession:)`` has stored may be used.
        public var usesKernelKeyring = true
        /// Whether to compare the vault with the rollback memory, and to update that memory.
        package var usesRollbackMemory = true
        /// Whether to check the fingerprint if an age identity opens the vault or ``fingerprint`` is set.
        var checksFingerprint = true
        /// The paths of copies to merge after opening. A rollback alarm is ignored if one of these copies explains it.
        package var mergedNext: [String] = []
        /// Whether all prompts, including those of commands and age plugins, are forbidden, as in shell completion.
        package var asksNobody = false
        /// The object that shows age plugins' messages and answers their prompts. The default does neither.
        public var pluginPrompter: any PluginPrompter = NoPrompts()
        /// Whether only the key file may open the vault, for example to check a backup of the key file.
        package var triesKeyFileAlone = false
        /// The key file's contents, if the program supplies them. The file itself is then not read.
        public var keyFileContents: KeyFileContents?
        /// Whether to accept, in any folder, a key file that belongs to root but that other users can read. By default,
        /// such a file is accepted only below `/run/secrets`, below `$CREDENTIALS_DIRECTORY` for
        /// ``VaultLocation/standard(vault:keyFile:environment:databases:)``, and on file systems in memory or mounted
        /// read-only.
        public var acceptsSharedKeyFile = false
        /// The maximum memory for the decrypted index, in bytes. The default of 128 MiB is enough for slightly more
        /// than a million entries. Only names that have been read use memory: a million names use 75 MiB. Beyond the
        /// limit, reads are slower. The minimum is 64 KiB. A process's first keychain for a vault sets the limit.
        public var indexMemory = Limits.indexMemory
        /// The conditions for using the local copy of a vault in a database.
        public var offline = VaultLocation.Offline.never
        /// A closure that is called when a method has waited one second for another process. It receives that process's
        /// ID, if known. This process holds no lock while the closure runs.
        public var onWaiting: (@Sendable (_ process: Int?) -> Void)?
        /// Whether the program exits after one request. If so, the vault's state at opening is recent enough for it.
        package var isShortLived = false
        /// Whether the program reads right after opening. The server is then queried while the vault is being opened.
        package var readsAtOnce = false
        /// Whether the program only reads. If so, it does not contact a server that was unreachable a moment ago.
        package var changesNothing = false
        /// Whether setting an entry keeps its policy (``Login/policyKey``). If so, only
        /// ``Keychain/setAttributes(of:_:ifMatching:)`` may remove a policy, or leave a field without its login's.
        package var keepsPolicies = false
        var keptAttribute: String? { keepsPolicies ? Login.policyKey : nil }
        /// Whether a compaction that is due after a change starts automatically, on a thread of the library.
        package var compactsByItself = true

        var store: StoreOptions {
            var store = StoreOptions()
            store.lockTimeout = lockTimeout
            store.offline = offline
            store.isShortLived = isShortLived
            store.readsAtOnce = readsAtOnce
            store.changesNothing = changesNothing
            return store
        }

        var unlocking: UnlockingOptions {
            let prompter: (any PassphrasePrompter)? = passphrasePrompter ?? passphrase.map(PlainPrompter.init)
            return UnlockingOptions(
                passphrase: asksNobody ? nil : prompter, fingerprint: fingerprint, checksFingerprint: checksFingerprint,
                usesKernelKeyring: usesKernelKeyring, asksNobody: asksNobody, triesKeyFileAlone: triesKeyFileAlone,
                acceptsSharedKeyFile: acceptsSharedKeyFile, pluginPrompter: pluginPrompter,
                keyFileContents: keyFileContents)
        }

        /// Creates options with their default values.
        public init() {}
    }

    /// Updates this machine's trust record of the vault. The closure also receives the vault's fingerprint. The vault
    /// has already been changed, so a failure to update the record is reported and not thrown.
    func remember(_ change: (inout TrustRecord, _ fingerprint: [UInt8]) -> Void) {
        guard options.usesRollbackMemory, let fingerprint = try? log.fingerprint() else { return }
        do throws(Notice) {
            try location.trust(log.vaultID, in: storeLocation.files) { change(&$0, fingerprint) }
        } catch { failures.report(VaultError(error, location), key: location.vault) }
    }

    /// Stores the vault's new fingerprint in the trust record, if the record already has a fingerprint.
    func rememberNewFingerprint() {
        remember { record, fingerprint in if record.fingerprint != nil { record.fingerprint = fingerprint } }
    }
}
