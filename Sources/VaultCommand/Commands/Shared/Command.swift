import SealedLog
import Vault

/// A command: its description, which the parser and the help use, and its implementation.
protocol Command {
    static var description: CommandDescription { get }

    /// Runs the command. A thrown error determines the exit code; see ``CommandError``.
    static func run(_ invocation: Invocation) throws -> ExitCode
}

extension Invocation {
    var wantsJSON: Bool { has(.json) }

    /// The first argument. The parser has checked that it exists.
    var name: String { arguments[0] }

    /// Writes a command's result to standard output as text or JSON, and returns the exit code. Many commands have a
    /// result only in JSON.
    func finish(
        _ exit: ExitCode = .success, json report: @autoclosure () -> JSONObject, text: () -> String = { "" }
    ) throws -> ExitCode {
        try StandardOutput.write(wantsJSON ? report().line() : text())
        return exit
    }

    /// Writes the result of a command that has changed a vault, then performs maintenance that has become due.
    func finish(_ keychain: Keychain, json report: @autoclosure () -> JSONObject) throws -> ExitCode {
        let exit = try finish(json: report().marked(by: keychain))
        keychain.maintenance.finishUpkeep()
        return exit
    }

    /// Reports which of the entries just stored have a reading policy, because a new value keeps the policy of the
    /// value that it replaces. Ignores a failure to read the policies, since the values are already stored.
    ///
    /// - Parameter scriptsIncluded: whether to report policies even if standard error is not a terminal.
    func reportPolicies(of names: [String], in keychain: Keychain, toScriptsToo scriptsIncluded: Bool = false) {
        guard scriptsIncluded || StandardError.isTerminal, !wantsJSON else { return }
        for name in names.prefix(20) {
            guard let attributes = try? keychain.item(name)?.attributes else { continue }
            if let rule = ReadingPolicy.rule(for: attributes, of: name) { Notes.inform(rule + ".") }
        }
    }

    func withProgress<Result>(_ title: String, _ body: (UpkeepProgress?) throws -> Result) throws -> Result {
        let line = wantsJSON ? nil : ProgressLine(title)
        defer { line?.end() }
        return try body(line?.progress)
    }
}

extension JSONObject {
    /// Adds `pending` if a change is stored only on this machine.
    func marked(by keychain: Keychain?) -> JSONObject {
        keychain?.copies.isKeptApart == true ? adding("pending", true) : self
    }
}

extension Keychain {
    /// Returns the key that has this number in `vault key ls`.
    func key(_ number: Int) throws -> VaultKeys.Key {
        if let key = try vaultKeys.all().first(where: { $0.number == number }) { return key }
        throw CommandError(VaultError(.absent, "No key \(number). Run `vault key ls` for the list."))
    }

    /// Returns the error for a missing name, with the most similar name as a suggestion.
    func absent(_ name: String) -> CommandError {
        // Searching a longer list would take too long for a hint.
        let isShort = (try? maintenance.information()).map { $0.entries <= 20_000 } ?? false
        let names = isShort ? (try? keys()) ?? [] : []
        // A program omits its own name, which is the prefix of its entries in the vault.
        let ofProgram = names.first { $0.utf8.drop { $0 != UInt8(ascii: "/") }.elementsEqual("/\(name)".utf8) }
        return .absent(name, near: NearName.nearest(to: name, among: names) ?? ofProgram)
    }
}

// Locates and opens the vault that a command line names.

extension Invocation {
    /// Opens the vault that the options name. If the vault is created, reports its location.
    ///
    /// - Parameter copies: the paths of the copies that the command merges next.
    func openVault(creatingIfAbsent isCreating: Bool = false, mergingNext copies: [String] = []) throws -> Keychain {
        var options = try vaultOptions()
        // A new vault is written before it is read.
        options.readsAtOnce = !isCreating
        options.mergedNext = copies
        return try announced(
            Keychain(at: location(), creatingIfAbsent: isCreating, options: options, failures: warnings))
    }

    func openVault(at vault: String) throws -> Keychain {
        var location = try location()
        location.vault = vault
        return try announced(Keychain(at: location, options: vaultOptions(), failures: warnings))
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
        // Messages show this path as the key file.
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
            // `verify` needs the server, since the local copy does not show whether the server's vault is intact.
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
        // The accept options apply to the server's state, so the local copy must not be used.
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
    /// Creates the advice from a command line's options for the vault and its key.
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
