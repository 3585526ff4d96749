public import Age
import LinuxSystem
import SealedLog
public import Sealing

extension Keychain {
    /// Settings for opening a keychain.
    public struct Options: Sendable {
        /// How long a call waits for other processes before it throws ``VaultError/Code/busy``; and, of a vault in a
        /// database, at least one second, for a server to take a connection and to answer.
        public var lockTimeout: Duration = .seconds(10)
        /// Alarms that a person has looked into: the vault is accepted and remembered as it is now. Any of
        /// ``VaultError/Code/rolledBack``, ``VaultError/Code/diverged`` and ``VaultError/Code/exchanged``.
        public var acceptedAlarms: Set<VaultError.Code> = []
        /// Asks a person for the passphrase of a vault that nothing else opens; nil to give up. It gets the number of
        /// the attempt, from 1 on, and is called again, without a lock held, until a passphrase opens the vault. An
        /// error that it throws ends the opening. Without it, a vault that needs a passphrase is `locked`.
        public var passphrase: (@Sendable (_ attempt: Int) throws(VaultError) -> SecretBytes?)?
        /// Asks as ``passphrase`` does, and is called instead of it.
        package var passphrasePrompter: (any PassphrasePrompter)?
        /// The fingerprint that a person has compared, for a vault that an age identity opens: the vault is opened only
        /// if it has this one, and this machine remembers it.
        public var fingerprint: String?
        /// Whether a key that ``Keychain/VaultKeys/unlock(for:onlyInThisSession:)`` has left opens the vault.
        public var usesKernelKeyring = true
        /// Whether to compare the vault with what this machine remembers of it, and to remember it.
        package var usesRollbackMemory = true
        /// Whether a vault that a recipient's key opens has to be one that this machine knows.
        var checksFingerprint = true
        /// The paths of copies that are merged right after the opening: an alarm about what one of them has is none.
        package var mergedNext: [String] = []
        /// Whether prompts are excluded, as during shell completion: no key command, no age plugin, no passphrase.
        package var asksNobody = false
        /// Shows the messages of age plugins and answers their prompts; by default, neither.
        public var pluginPrompter: any PluginPrompter = NoPrompts()
        /// Whether only the key file may open the vault, as where a person wants to know whether it does.
        package var triesKeyFileAlone = false
        /// The contents of the key file, instead of those in the file.
        public var keyFileContents: KeyFileContents?
        /// Whether to accept a key file of root's that others can read, in any folder. By default it is accepted only
        /// below `/run/secrets`, below `$CREDENTIALS_DIRECTORY` for
        /// ``VaultLocation/standard(vault:keyFile:environment:databases:)``, and on file systems in memory or mounted
        /// read-only.
        public var acceptsSharedKeyFile = false
        /// How much memory the opened index may take, in bytes: 128 MiB by default, which is enough for somewhat more
        /// than a million entries. It takes what the names that are read need, 75 MiB for all of a million; with less,
        /// reads beyond it take longer. At least 64 KiB are used. The first keychain that opens a vault decides.
        public var indexMemory = Limits.indexMemory
        /// The conditions for using the local copy of a vault in a database.
        public var offline = VaultLocation.Offline.never
        /// Called, after one second, when a call waits for another process; with that process, if it can be found out.
        /// No lock is held then.
        public var onWaiting: (@Sendable (_ process: Int?) -> Void)?
        /// Whether the program makes one request and ends: the state from opening the vault is then recent enough.
        package var isShortLived = false
        /// Whether the program will read at once. The server is then queried while the vault is opened.
        package var readsAtOnce = false
        /// Whether the program only reads: a server that was unreachable a moment ago is then not contacted.
        package var changesNothing = false
        /// Whether a name keeps its policy (the attribute ``Login/policyKey``), whatever is stored there, and its
        /// fields are not left without it. Only ``Keychain/setAttributes(of:_:ifMatching:)`` takes it away.
        package var keepsPolicies = false
        var keptAttribute: String? { keepsPolicies ? Login.policyKey : nil }
        /// Whether a compaction that a change has made due starts by itself, on a thread of the library's own.
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

        /// Waits 10 seconds, and accepts no alarm.
        public init() {}
    }
}

extension Keychain {
    /// Changes what this machine trusts of the vault, whose fingerprint the closure gets. The vault is changed already,
    /// so a failure is reported and not thrown.
    func remember(_ change: (inout TrustRecord, _ fingerprint: [UInt8]) -> Void) {
        guard options.usesRollbackMemory, let fingerprint = try? log.fingerprint() else { return }
        do throws(Notice) {
            try location.trust(log.vaultID, in: storeLocation.files) { change(&$0, fingerprint) }
        } catch { failures.report(VaultError(error, location), key: location.vault) }
    }

    /// Does the same with the vault's fingerprint, which has changed, if this machine knows one.
    func rememberNewFingerprint() {
        remember { record, fingerprint in if record.fingerprint != nil { record.fingerprint = fingerprint } }
    }
}
