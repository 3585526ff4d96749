import Age
import LinuxSystem
import SealedLog

/// The search for a key that opens a vault. It tries the cheapest sources first: the key file, the kernel's keyring
/// (filled by `unlock`), a command, age identities, and a passphrase prompt. If none opens the vault, it reports why.
struct KeychainUnlocker: Unlocker, ~Copyable {
    private enum Way {
        case keyFile, kernel
        /// The location's key command, which is used instead of a key file.
        case keyCommand
        case slotCommands
        case secretKeys, plugins
        case passphrase
        /// The passphrase that was just entered, together with the key file.
        case passphraseWithKeyFile
        case nothing
    }

    private let location: VaultLocation
    private let options: UnlockingOptions
    private let fileSystem: any FileSystem
    private var way = Way.keyFile
    /// The number of slots that were tried in the current ``way`` of unlocking.
    private var tried = 0
    private var attempts = 0
    private var hasLookedAgain = false
    private var keyFile: KeyFile?
    private var identities: SlotIdentities?
    private var passphrase: SecretBytes?
    private var failures = UnlockingFailures()
    /// The opened vault's fingerprint, if the identity file pins it.
    private var pinOfFile: [UInt8]?
    private(set) var sharing: SecretFile.Sharing?

    init(_ location: VaultLocation, _ options: UnlockingOptions, in fileSystem: any FileSystem) {
        self.location = location
        self.options = options
        self.fileSystem = fileSystem
    }

    var failure: LogError { failures.first }

    /// Returns the error to show to the user for an error that this unlocker has thrown; nil for any other error.
    func explanation(of error: LogError) -> VaultError? {
        failures.refusal ?? (error == failure ? failures.explanation(location) : nil)
    }

    /// The problem with the key file, if the vault was opened with another key.
    var obstacle: VaultError? { failures.ofKeyFile.map { VaultError($0, location) } }

    mutating func next(for vault: LockedVault) throws(LogError) -> Credential? {
        while way != .nothing {
            let credential =
                switch way {
                case .keyFile: try keyFileCredential(for: vault)
                case .kernel: try kernelCredential(for: vault)
                case .keyCommand: try keyCommandCredential()
                case .slotCommands: try slotCommandCredential(for: vault)
                case .secretKeys: try identityCredential(for: vault, .secretKeys)
                case .plugins: try identityCredential(for: vault, .plugins)
                case .passphrase: try passphraseCredential(for: vault)
                case .passphraseWithKeyFile: try combinedCredential(for: vault)
                case .nothing: Credential?.none
                }
            if let credential { return credential }
        }
        return nil
    }

    mutating func restart() {
        advance(to: .keyFile)
        attempts = 0
        failures = UnlockingFailures()
        identities = nil
    }

    private mutating func advance(to next: Way) { (way, tried) = (next, 0) }

    /// Returns the next slot to try in the current ``way``. If none is left, switches to `next` and returns nil.
    private mutating func nextSlot(of vault: LockedVault, or next: Way) -> KeySlot? {
        guard tried < vault.slots.count else {
            advance(to: next)
            return nil
        }
        defer { tried += 1 }
        return vault.slots[tried]
    }

    // MARK: Key files

    private mutating func keyFileCredential(for vault: LockedVault) throws(LogError) -> Credential? {
        guard options.keyFileContents != nil || location.keyCommand == nil else {
            // The key command may prompt the user or take a long time, so the kernel's keyring is tried first.
            advance(to: options.triesKeyFileAlone ? .keyCommand : .kernel)
            return nil
        }
        advance(to: options.triesKeyFileAlone ? .nothing : .kernel)
        do throws(LogError) {
            let key = try location.readKey(options, in: fileSystem)
            sharing = key.sharing
            // A wrong key file is reported only if one of the vault's slots is for a key file.
            if vault.slots.contains(where: \.isOfKeyFile) { failures.add(LogError(.keyWrong)) }
            if vault.slots.has(.keyFileAndPassphrase) { keyFile = try key.copy() }
            return .keyFile(key)
        } catch  where error.code == .keyMissing && !vault.slots.needKeyFile {
            return nil
        } catch { return try missing(error) }
    }

    private mutating func keyCommandCredential() throws(LogError) -> Credential? {
        advance(to: options.triesKeyFileAlone ? .nothing : .slotCommands)
        guard options.keyFileContents == nil, !options.asksNobody, let line = location.keyCommand else { return nil }
        do throws(LogError) {
            let key = try KeyCommand(line: line, prompter: options.pluginPrompter).key()
            failures.add(LogError(.keyWrong))
            return .keyFile(key)
        } catch { return try missing(error) }
    }

    /// Records `error` and returns nil, so that the search for a key continues. Throws it only if no memory is left.
    private mutating func missing(_ error: LogError) throws(LogError) -> Credential? {
        guard error.code != .outOfMemory else { throw error }
        failures.add(error)
        return nil
    }

    // MARK: The kernel's keyring

    private mutating func kernelCredential(for vault: LockedVault) throws(LogError) -> Credential? {
        guard let slot = nextSlot(of: vault, or: .keyCommand), options.usesKernelKeyring,
            let key = try UnlockedSlot(vault.vaultID, slot.salt).read()
        else { return nil }
        return .wrappingKey(key, ofSlotWith: slot.salt)
    }

    /// Returns a closure that checks, each time it is called, whether the kernel's keyring has a key of the vault.
    private func lookForKernelKey(of vault: LockedVault) -> () -> Bool {
        guard options.usesKernelKeyring else { return { false } }
        let slots = vault.slots.map { UnlockedSlot(vault.vaultID, $0.salt) }
        return { slots.contains(where: \.isKept) }
    }

    // MARK: Commands of key slots

    private mutating func slotCommandCredential(for vault: LockedVault) throws(LogError) -> Credential? {
        // The location's key command has already been run, so it is skipped here.
        guard let slot = nextSlot(of: vault, or: .secretKeys), let line = slot.command,
            !line.isSame(as: location.keyCommand), !options.asksNobody
        else { return nil }
        do throws(LogError) {
            guard try location.allows(command: line, ofVault: vault.vaultID, in: fileSystem) else {
                failures.add(LogError(.commandUntrusted, line))
                return nil
            }
            return try .keyFile(KeyCommand(line: line, prompter: options.pluginPrompter).key())
        } catch { return try missing(error) }
    }

    // MARK: Identities

    private mutating func identityCredential(
        for vault: LockedVault, _ kind: IdentityFile.Kind
    ) throws(LogError) -> Credential? {
        let following = kind == .secretKeys && !options.asksNobody ? Way.plugins : .passphrase
        guard vault.slots.has(.recipient), try readIdentities() else {
            if !vault.slots.has(.recipient) { addUselessIdentity(for: vault) }
            advance(to: .passphrase)
            return nil
        }
        guard let slot = nextSlot(of: vault, or: following) else {
            if following == .passphrase { addUselessIdentity(for: vault) }
            return nil
        }
        do throws(LogError) {
            let key = try identities?.fileKey(in: slot, kind, asking: options.pluginPrompter)
            guard let key else { return nil }
            return .recipient(key, ofSlotWith: slot.salt)
        } catch { return try missing(error) }
    }

    /// Records that the identity file does not open the vault. If the file opened the vault earlier, the message says
    /// that the user's key was removed. A plugin's own message takes precedence.
    private mutating func addUselessIdentity(for vault: LockedVault) {
        guard let path = location.identityFile, !failures.has(.identityWrong) else { return }
        let known = try? location.trusted(vault.vaultID, in: fileSystem)
        let fault =
            vault.slots.has(.recipient)
            ? "none in \(path) belongs to a recipient of this vault" : "it has no recipients"
        failures.add(known?.fingerprint == nil ? LogError(.identityWrong, fault) : LogError(.identityRemoved, path))
    }

    private mutating func readIdentities() throws(LogError) -> Bool {
        if identities != nil { return true }
        guard let path = location.identityFile else {
            failures.add(LogError(.identityMissing))
            return false
        }
        do throws(LogError) {
            identities = try SlotIdentities(at: path, location.secretFolders, options, in: fileSystem)
            return true
        } catch {
            _ = try missing(error)
            return false
        }
    }

    // MARK: Passphrases

    private mutating func passphraseCredential(for vault: LockedVault) throws(LogError) -> Credential? {
        advance(to: .passphraseWithKeyFile)
        // A slot for a passphrase and a key file cannot be opened without the key file.
        guard vault.slots.has(.passphrase) || keyFile != nil else {
            advance(to: .nothing)
            return nil
        }
        if attempts > 0 { failures.add(LogError(.passphraseWrong)) }
        attempts += 1
        let isUnlocked = lookForKernelKey(of: vault)
        do throws(VaultError) {
            passphrase = try options.passphrase?.ask(attempt: attempts, unless: isUnlocked)
        } catch {
            failures.refusal = error
            throw LogError(.passphraseNeeded)
        }
        guard let text = try passphrase?.copy() else {
            // Another process may have unlocked the vault while this one waited to show its prompt. The keyring is
            // tried once more, but not again after that: its key might not open the vault.
            if !hasLookedAgain, isUnlocked() {
                hasLookedAgain = true
                attempts -= 1
                advance(to: .kernel)
                return nil
            }
            if attempts == 1 { failures.add(LogError(.passphraseNeeded)) }
            advance(to: .nothing)
            return nil
        }
        return vault.slots.has(.passphrase) ? .passphrase(text) : nil
    }

    private mutating func combinedCredential(for vault: LockedVault) throws(LogError) -> Credential? {
        advance(to: .passphrase)
        guard let passphrase = passphrase.take(), vault.slots.has(.keyFileAndPassphrase),
            let key = try keyFile?.copy()
        else { return nil }
        return try .passphrase(passphrase, with: key)
    }

    // MARK: Trust

    mutating func check(_ vault: UnlockedVault) throws(LogError) {
        // A recipient is public, so anyone can create a vault for it. The vault's fingerprint is therefore checked.
        // Every other key is secret, so only its owner can create a vault that the key opens.
        guard options.checksFingerprint, vault.isOfRecipient || options.fingerprint != nil else { return }
        let fingerprint = try vault.fingerprint()
        let text = Hexadecimal.string(of: fingerprint)
        if let given = options.fingerprint {
            guard Fingerprint.matches(given, fingerprint) else { throw LogError(.pinWrong, text) }
            return
        }
        // The identity file may not have been needed to open the vault, so it is read now, for its pins.
        if identities == nil, let path = location.identityFile {
            identities = try? SlotIdentities(at: path, location.secretFolders, options, in: fileSystem)
        }
        let pins = identities?.pins ?? []
        if pins.contains(where: { Fingerprint.matches($0, fingerprint) }) {
            if let distrust = identities?.distrust { throw distrust }
            pinOfFile = fingerprint
            return
        }
        let known = try location.trusted(vault.vaultID, in: fileSystem)
        guard let pinned = known.fingerprint else { throw LogError(pins.isEmpty ? .unpinned : .pinWrong, text) }
        guard pinned == fingerprint else { throw LogError(.pinWrong, text) }
    }

    func remember(_ vault: UnlockedVault, behind flush: () throws(LogError) -> Void) throws(Notice) {
        let line = location.keyCommand.flatMap { line in line.isSame(as: vault.keys.slot?.command) ? line : nil }
        // `try?` ignores a lack of memory. A pin in the identity file applies only to that file, so it is not recorded.
        var fingerprint = vault.slots.has(.recipient) ? try? vault.fingerprint() : nil
        if vault.isOfRecipient, fingerprint == pinOfFile { fingerprint = nil }
        guard line != nil || fingerprint != nil else { return }
        try location.trust(vault.vaultID, in: fileSystem, behind: flush) { record in
            if let line { record.allow(command: line) }
            if let fingerprint { record.fingerprint = fingerprint }
        }
    }
}

extension UnlockedVault {
    fileprivate var isOfRecipient: Bool { keys.slot?.isOfRecipient ?? false }
}

extension [KeySlot] {
    fileprivate func has(_ kind: KeySlot.Kind) -> Bool { contains { $0.kind == kind.rawValue } }

    /// Whether a key file opens one of the slots, alone or with a passphrase.
    fileprivate var needKeyFile: Bool { has(.keyFileAndPassphrase) || contains(where: \.isOfKeyFile) }
}

extension SecretBytes {
    borrowing func copy() throws(LogError) -> SecretBytes {
        do { return try copyOfKey() } catch { throw LogError(.outOfMemory) }
    }
}
