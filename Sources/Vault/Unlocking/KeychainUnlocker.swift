import LinuxSystem
import SealedLog
import Sealing

/// Finds what opens a vault, the cheapest first: its key file, what `unlock` has left in the kernel, a command that a
/// key slot names, an age identity, and at last a person.
struct KeychainUnlocker: Unlocker, ~Copyable {
    private enum Step {
        case keyFile, kernel, command, identity
        case passphrase
        /// The same passphrase together with the key file.
        case passphraseWithKeyFile
        case nothing
    }

    private let places: VaultPlaces
    private let options: UnlockingOptions
    private let fileSystem: any FileSystem
    private var step = Step.keyFile
    /// How many slots the step has tried.
    private var tried = 0
    private var attempts = 0
    private var keyFile: KeyFile?
    private var passphrase: SecretBytes?
    /// The fingerprints in the identity file.
    private var pins: [String] = []
    /// Why others than its owner may read the key file.
    private(set) var sharing: KeyFile.Sharing?
    private(set) var failure = LogError(.keyWrong)
    /// What asking a person has thrown.
    private(set) var refusal: VaultError?

    init(_ places: VaultPlaces, _ options: UnlockingOptions, in fileSystem: any FileSystem) {
        (self.places, self.options, self.fileSystem) = (places, options, fileSystem)
    }

    mutating func next(for vault: LockedVault) throws(LogError) -> Credential? {
        while true {
            switch step {
            case .keyFile:
                advance(to: options.triesKeyFileAlone ? .nothing : .kernel)
                if let credential = try keyFileCredential(for: vault) { return credential }
            case .kernel:
                if let credential = try kernelCredential(for: vault) { return credential }
                advance(to: .command)
            case .command:
                if let credential = try commandCredential(for: vault) { return credential }
                advance(to: .identity)
            case .identity:
                if let credential = try identityCredential(for: vault) { return credential }
                advance(to: .passphrase)
            case .passphrase:
                advance(to: .passphraseWithKeyFile)
                if let credential = try passphraseCredential(for: vault) { return credential }
            case .passphraseWithKeyFile:
                advance(to: .passphrase)
                guard let passphrase = passphrase.take() else {
                    advance(to: .nothing)
                    continue
                }
                if let credential = try passphraseCredential(passphrase, withKeyFileFor: vault) { return credential }
            case .nothing: return nil
            }
        }
    }

    mutating func restart() {
        advance(to: .keyFile)
        (attempts, failure) = (0, LogError(.keyWrong))
    }

    private mutating func advance(to next: Step) { (step, tried) = (next, 0) }

    // MARK: Key files

    private mutating func keyFileCredential(for vault: LockedVault) throws(LogError) -> Credential? {
        let key: KeyFile
        do { key = try places.readKey(options, in: fileSystem) } catch {
            failure = error
            // A key file that is away is no obstacle if there is another way; one that is damaged or exposed is.
            guard error.code == .keyMissing else { throw error }
            return nil
        }
        sharing = key.sharing
        if vault.slots.has(.keyFileAndPassphrase) { keyFile = try key.copy() }
        return try .keyFile(key)
    }

    // MARK: The kernel's keyring

    private mutating func kernelCredential(for vault: LockedVault) throws(LogError) -> Credential? {
        guard options.usesKernelKeyring else { return nil }
        while tried < vault.slots.count {
            let slot = vault.slots[tried]
            tried += 1
            if let key = try UnlockedSlot(vault.vaultID, slot.salt).read() {
                return try .wrappingKey(key, ofSlotWith: slot.salt)
            }
        }
        return nil
    }

    // MARK: Commands

    private mutating func commandCredential(for vault: LockedVault) throws(LogError) -> Credential? {
        while tried < vault.slots.count {
            let slot = vault.slots[tried]
            tried += 1
            // That of the places was run in place of reading the key file.
            guard let line = slot.command, line != places.keyCommand else { continue }
            let trusted = TrustRecord.read(
                ofVault: vault.vaultID, memoryFolder: places.rollbackMemory, in: fileSystem)
            guard trusted.command == TrustRecord.hash(ofCommand: line) else {
                failure = LogError(.commandUntrusted, line)
                continue
            }
            do { return try .keyFile(KeyCommand(line: line).key()) } catch {
                // Without the device that the command asks, another key may still be at hand.
                failure = error
            }
        }
        return nil
    }

    // MARK: Identities

    private mutating func identityCredential(for vault: LockedVault) throws(LogError) -> Credential? {
        guard vault.slots.has(.recipient) else { return nil }
        guard let path = places.identityFile else {
            if failure.code != .commandUntrusted { failure = LogError(.identityMissing) }
            return nil
        }
        let identities = try SlotIdentities(at: path, in: fileSystem)
        pins = identities.pins
        while tried < vault.slots.count {
            let slot = vault.slots[tried]
            tried += 1
            if let key = try identities.fileKey(in: slot, asking: options.pluginPrompter) {
                return try .recipient(key, ofSlotWith: slot.salt)
            }
        }
        failure = LogError(.identityWrong, "\(path) has none of a recipient of this vault")
        return nil
    }

    // MARK: Passphrases

    private mutating func passphraseCredential(for vault: LockedVault) throws(LogError) -> Credential? {
        // Together with a key file that is away, no passphrase helps.
        guard vault.slots.has(.passphrase) || keyFile != nil else {
            advance(to: .nothing)
            return nil
        }
        if attempts > 0 { failure = LogError(.passphraseWrong) }
        guard let asking = options.passphrase else {
            failure = failure.wantingPassphrase
            advance(to: .nothing)
            return nil
        }
        attempts += 1
        do throws(VaultError) { passphrase = try asking(attempts) } catch {
            refusal = error
            throw LogError(.passphraseNeeded)
        }
        guard let text = try passphrase?.copy() else {
            if attempts == 1 { failure = failure.wantingPassphrase }
            advance(to: .nothing)
            return nil
        }
        return vault.slots.has(.passphrase) ? try .passphrase(text) : nil
    }

    private mutating func passphraseCredential(
        _ passphrase: consuming SecretBytes, withKeyFileFor vault: LockedVault
    ) throws(LogError) -> Credential? {
        guard vault.slots.has(.keyFileAndPassphrase), let key = try keyFile?.copy() else { return nil }
        return try .passphrase(passphrase, with: key)
    }

    // MARK: Trust

    mutating func check(_ vault: UnlockedVault) throws(LogError) {
        if let line = vault.slot?.command, line == places.keyCommand {
            try places.trust(vault.vaultID, in: fileSystem) { $0.command = TrustRecord.hash(ofCommand: line) }
        }
        guard vault.slots.has(.recipient) else { return }
        let fingerprint = try vault.fingerprint()
        let text = Fingerprint.text(fingerprint)
        // Whoever does not know the secret of another key could not have made a vault that it opens.
        guard vault.slot?.kind == KeySlot.Kind.recipient.rawValue else { return try remember(fingerprint, of: vault) }
        if let given = options.fingerprint {
            guard Fingerprint.matches(given, fingerprint) else { throw LogError(.pinWrong, text) }
            return try remember(fingerprint, of: vault)
        }
        if pins.contains(where: { Fingerprint.matches($0, fingerprint) }) { return }
        let known = TrustRecord.read(ofVault: vault.vaultID, memoryFolder: places.rollbackMemory, in: fileSystem)
        guard let pinned = known.fingerprint else { throw LogError(.unpinned, text) }
        guard pinned == fingerprint else { throw LogError(.pinWrong, text) }
    }

    private func remember(_ fingerprint: [UInt8], of vault: UnlockedVault) throws(LogError) {
        try places.trust(vault.vaultID, in: fileSystem) { $0.fingerprint = fingerprint }
    }
}

extension [KeySlot] {
    fileprivate func has(_ kind: KeySlot.Kind) -> Bool { contains { $0.kind == kind.rawValue } }
}

extension LogError {
    /// The same failure, of a vault that a passphrase would open if it could be asked for.
    fileprivate var wantingPassphrase: LogError { LogError(.passphraseNeeded, code == .keyMissing ? "keyMissing" : "") }
}

extension SecretBytes {
    borrowing func copy() throws(LogError) -> SecretBytes {
        do { return try withUnsafeBytes { (bytes) throws(SealingError) in try SecretBytes(copyOf: bytes) } } catch {
            throw LogError(.outOfMemory)
        }
    }
}
