import SealedLog
import Vault

// Locates and opens the vault that a command line names.

extension Invocation {
    /// Opens the vault that the options name. Reports the location of a vault that it creates.
    ///
    /// - Parameter copies: the paths of the copies that the command will merge into the vault.
    func openVault(creatingIfAbsent isCreating: Bool = false, mergingNext copies: [String] = []) throws -> Keychain {
        var options = try vaultOptions()
        // A command that may create the vault begins with a write, so opening the vault need not query the server.
        options.readsAtOnce = !isCreating
        options.mergedNext = copies
        return try announced(
            Keychain(at: location(), creatingIfAbsent: isCreating, options: options, failures: warnings))
    }

    func openVault(at vault: String) throws -> Keychain {
        var location = try location()
        location.vault = vault
        do {
            return try announced(Keychain(at: location, options: vaultOptions(), failures: warnings))
        } catch let error as VaultError where error.code == .noVault {
            // Omit the hint that suggests creating the vault, because an empty vault would be useless here.
            throw CommandError(code: "no-vault", exit: .notFound, message: error.message)
        }
    }

    func openVaultIfAny() throws -> Keychain? {
        do { return try openVault() } catch let error as VaultError where error.code == .noVault { return nil }
    }

    /// Opens the vault with a key file and no other key.
    func openVault(byKeyFileAt path: String) throws -> Keychain {
        try Keychain.VaultKeys.opened(byKeyFileAt: path, of: location(), options: vaultOptions(), failures: warnings)
    }

    /// - Parameter isReplacing: whether to replace a vault that this machine remembers but that no longer exists.
    func createVault(label: String, cost: Keychain.KeyFileCost, replacingGone isReplacing: Bool) throws -> Keychain {
        try announced(
            Keychain.create(
                at: location(), label: label, cost: cost, replacingGone: isReplacing, options: vaultOptions(),
                failures: warnings))
    }

    private var warnings: FailureLog {
        FailureLog { error, _ in Notes.warn(CommandError(error, advising: AdvisedCommand(self)), asJSON: wantsJSON) }
    }

    private func announced(_ keychain: Keychain) -> Keychain {
        if keychain.created.vault || keychain.created.keyFile { Notes.reportCreated(keychain, asJSON: wantsJSON) }
        if let merge = keychain.copies.offlineChanges {
            let text = merge.offlineText(keychain.location.vault, AdvisedCommand(self))
            if !wantsJSON {
                Notes.inform(text)
            } else if !merge.isWhole {
                Notes.warn(CommandError(code: "diverged", exit: .alarm, message: text), asJSON: true)
            }
        }
        return keychain
    }

    func location() throws -> VaultLocation {
        if let knownLocation { return knownLocation }
        guard [OptionName.keyFile, .keyFD, .keyCommand].filter(has).count <= 1 else { throw UsageError.oneKeySource }
        var location = try VaultLocation.standard(
            vault: value(of: .vault), keyFile: value(of: .keyFile), databases: databases)
        if let command = value(of: .keyCommand) { location.keyCommand = command }
        if let identity = value(of: .identity) { location.identityFile = identity }
        // Messages show this path, but `vaultOptions` reads the key from the file descriptor.
        if let descriptor = value(of: .keyFD) {
            location.keyFile = "/dev/fd/\(descriptor)"
            location.keyCommand = nil
        }
        return location
    }

    func vaultOptions() throws -> Keychain.Options {
        var options = Keychain.Options()
        options.passphrasePrompter = TerminalPassphrasePrompter(vault: (try? location())?.vault ?? "the vault")
        options.usesRollbackMemory = !has(.detached)
        if has(.offline) {
            options.offline = .always
        } else if try command != .verify && location().allowsOffline {
            // `verify` needs the server, because the local copy does not show whether the server's vault is intact.
            options.offline = .ifUnreachable
        }
        options.changesNothing = changesNothing
        options.pluginPrompter = TerminalPluginPrompter()
        options.fingerprint = value(of: .vaultFingerprint)
        if let number = try number(of: .keyFD), let descriptor = Int32(exactly: number) {
            options.keyFileContents = try GivenKey.contents(of: descriptor)
        }
        if let lockTimeout = try lockTimeout { options.lockTimeout = lockTimeout }
        if has(.acceptRolledBack) { options.acceptedAlarms.insert(.rolledBack) }
        if has(.acceptDiverged) { options.acceptedAlarms.insert(.diverged) }
        if has(.acceptExchanged) { options.acceptedAlarms.insert(.exchanged) }
        // Alarms are accepted for the server's vault. With `changesNothing`, the local copy could be opened instead.
        if !options.acceptedAlarms.isEmpty { options.changesNothing = false }
        options.acceptsSharedKeyFile = has(.acceptSharedKey)
        options.compactsByItself = false
        options.keepsPolicies = true
        options.isShortLived = true
        if !wantsJSON { options.onWaiting = Notes.reportWaiting }
        return options
    }
}

extension AdvisedCommand {
    /// Creates a command to suggest to the user, with this command line's options for the vault and its key.
    init(_ invocation: Invocation) {
        let keyOptions = [OptionName.keyFile, .keyCommand, .identity].compactMap { name in
            invocation.value(of: name).map { (option: name.spelling, value: $0) }
        }
        let location = try? invocation.location()
        let usual = location.flatMap { try? VaultLocation.standard(vault: $0.vault).keyFile }
        let keyFile = invocation.has(.keyFD) || location?.keyFile == usual ? nil : location?.keyFile
        self.init(vault: (invocation.value(of: .vault), location?.vault), keyOptions: keyOptions, keyFile: keyFile)
    }
}
