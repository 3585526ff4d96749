import SealedLog
import Vault

/// A command: its description, which the parser and the help use, and its implementation.
protocol Command {
    static var description: CommandDescription { get }

    /// Runs the command. An error ends the process with its exit code; see ``CommandError``.
    static func run(_ invocation: Invocation) throws -> ExitCode
}

/// The table of commands. Descriptions are static properties, so that each run creates only the one that it needs.
extension CommandName {
    var command: any Command.Type {
        switch self {
        case .initialize: InitCommand.self
        case .set: SetCommand.self
        case .get: GetCommand.self
        case .show: ShowCommand.self
        case .attribute: AttributeCommand.self
        case .otp: OTPCommand.self
        case .generate: GenerateCommand.self
        case .edit: EditCommand.self
        case .clipboard: ClipboardCommand.self
        case .pick: PickCommand.self
        case .list: ListCommand.self
        case .find: FindCommand.self
        case .exists: ExistsCommand.self
        case .remove: RemoveCommand.self
        case .move: MoveCommand.self
        case .copy: CopyCommand.self
        case .history: HistoryCommand.self
        case .restore: RestoreCommand.self
        case .undo: UndoCommand.self
        case .log: LogCommand.self
        case .unlock: UnlockCommand.self
        case .lock: LockCommand.self
        case .keyList: KeyListCommand.self
        case .keyAdd: KeyAddCommand.self
        case .keyRemove: KeyRemoveCommand.self
        case .keyCheck: KeyCheckCommand.self
        case .keyReplace: KeyReplaceCommand.self
        case .keyRotate: KeyRotateCommand.self
        case .keyShow: KeyShowCommand.self
        case .keySplit: KeySplitCommand.self
        case .keyJoin: KeyJoinCommand.self
        case .memberList: MemberListCommand.self
        case .memberAdd: MemberAddCommand.self
        case .memberRemove: MemberRemoveCommand.self
        case .memberDevice: MemberDeviceCommand.self
        case .drop: DropCommand.self
        case .collect: CollectCommand.self
        case .run: RunCommand.self
        case .env: EnvCommand.self
        case .inject: InjectCommand.self
        case .importEntries: ImportCommand.self
        case .export: ExportCommand.self
        case .backup: BackupCommand.self
        case .clone: CloneCommand.self
        case .merge: MergeCommand.self
        case .setupGitMerge: SetupGitMergeCommand.self
        case .setupGit: SetupGitCommand.self
        case .setupDocker: SetupDockerCommand.self
        case .setupAWS: SetupAWSCommand.self
        case .setupKube: SetupKubeCommand.self
        case .setupSSH: SetupSSHCommand.self
        case .setupDirenv: SetupDirenvCommand.self
        case .gitCredential: GitCredentialCommand.self
        case .dockerCredential: DockerCredentialCommand.self
        case .awsCredential: AWSCredentialCommand.self
        case .kubeCredential: KubeCredentialCommand.self
        case .askpass: AskpassCommand.self
        case .sshAdd: SSHAddCommand.self
        case .systemdCredential: SystemdCredentialCommand.self
        case .preferenceGet: PreferenceGetCommand.self
        case .preferenceSet: PreferenceSetCommand.self
        case .preferenceList: PreferenceListCommand.self
        case .preferenceRemove: PreferenceRemoveCommand.self
        case .info: InfoCommand.self
        case .doctor: DoctorCommand.self
        case .verify: VerifyCommand.self
        case .compact: CompactCommand.self
        case .salvage: SalvageCommand.self
        case .help: HelpCommand.self
        case .completions: CompletionsCommand.self
        case .man: ManCommand.self
        case .version: VersionCommand.self
        }
    }

    var description: CommandDescription { command.description }
}

extension Invocation {
    var wantsJSON: Bool { has(.json) }

    /// The first argument. The parser has checked that it exists.
    var name: String { arguments[0] }

    /// Ends a command: writes its result to standard output, as text or JSON. Many commands print a result only as
    /// JSON.
    func finish(
        _ exit: ExitCode = .success, json report: @autoclosure () -> JSONObject, text: () -> String = { "" }
    ) throws -> ExitCode {
        try StandardOutput.write(wantsJSON ? report().line() : text())
        return exit
    }

    /// Ends a command that has changed a vault. Maintenance that the change made due follows the answer.
    func finish(_ keychain: Keychain, json report: @autoclosure () -> JSONObject) throws -> ExitCode {
        let exit = try finish(json: report().marked(by: keychain))
        keychain.maintenance.finishUpkeep()
        return exit
    }

    /// Reports which of the entries that this command has stored have a reading policy: a value keeps the policy of the
    /// value it replaces. The values are stored already, so a failure to read the policies is not reported.
    ///
    /// - Parameter scriptsIncluded: whether to report it also if standard error is not a terminal.
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

    /// Opens the vault that the options name. If that creates one, reports where.
    ///
    /// - Parameter copies: the paths of the copies that the command merges next.
    func openVault(creatingIfAbsent isCreating: Bool = false, mergingNext copies: [String] = []) throws -> Keychain {
        var options = try vaultOptions()
        // Creating a vault writes to it.
        options.readsAtOnce = !isCreating
        options.mergedNext = copies
        return try announced(
            Keychain(at: location(), creatingIfAbsent: isCreating, options: options, failures: warnings))
    }

    /// Opens the vault whose path or URL is an argument.
    func openVault(at vault: String) throws -> Keychain {
        var location = try location()
        location.vault = vault
        return try announced(Keychain(at: location, options: vaultOptions(), failures: warnings))
    }

    /// Opens the vault that the options name; nil if there is none.
    func openVaultIfAny() throws -> Keychain? {
        do { return try openVault() } catch let error as VaultError where error.code == .noVault { return nil }
    }

    /// Opens the vault with a key file, and with no other key.
    func openVault(byKeyFileAt path: String) throws -> Keychain {
        try Keychain.VaultKeys.opened(byKeyFileAt: path, of: location(), options: vaultOptions(), failures: warnings)
    }

    /// - Parameter isReplacing: whether it may replace a vault that this machine remembers but that no longer exists.
    func createVault(
        label: String, cost: Keychain.KeyFileCost, replacingGone isReplacing: Bool
    ) throws -> Keychain {
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

    /// Returns the location of the vault.
    func location() throws -> VaultLocation {
        if let knownLocation { return knownLocation }
        guard [OptionName.keyFile, .keyFD, .keyCommand].filter(has).count <= 1 else { throw UsageError.oneKeySource }
        var location = try VaultLocation.standard(
            vault: value(of: .vault), keyFile: value(of: .keyFile), databases: databases)
        if let command = value(of: .keyCommand) { location.keyCommand = command }
        if let identity = value(of: .identity) { location.identityFile = identity }
        // Messages show this as the key file.
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
            // The local copy does not show whether the server's vault is intact.
            options.offline = .ifUnreachable
        }
        options.changesNothing = command.changesNothing
        options.pluginPrompter = TerminalPluginPrompter()
        options.fingerprint = value(of: .vaultFingerprint)
        if let number = try number(of: .keyFD), let descriptor = Int32(exactly: number) {
            options.keyFileContents = try GivenKey.contents(of: descriptor)
        }
        if let lockTimeout = try lockTimeout { options.lockTimeout = lockTimeout }
        if has(.acceptRolledBack) { options.acceptedAlarms.insert(.rolledBack) }
        if has(.acceptDiverged) { options.acceptedAlarms.insert(.diverged) }
        if has(.acceptExchanged) { options.acceptedAlarms.insert(.exchanged) }
        // Alarms are accepted for the server's state, so the local copy is not used.
        if !options.acceptedAlarms.isEmpty { options.changesNothing = false }
        options.acceptsSharedKeyFile = has(.acceptSharedKey)
        options.compactsByItself = false
        options.keepsPolicies = true
        options.isShortLived = true
        if !wantsJSON { options.onWaiting = Notes.reportWaiting }
        return options
    }
}

extension JSONObject {
    /// Adds `pending` if a change is stored on this machine only.
    func marked(by keychain: Keychain?) -> JSONObject {
        keychain?.copies.isKeptApart == true ? adding("pending", true) : self
    }
}

extension Keychain {
    /// Returns the key with a number as shown by `vault key ls`.
    func key(_ number: Int) throws -> VaultKeys.Key {
        if let key = try vaultKeys.all().first(where: { $0.number == number }) { return key }
        throw CommandError(VaultError(.absent, "No key \(number). Run `vault key ls` for the list."))
    }

    /// Returns the error for a missing name, with the most similar name as a suggestion.
    func absent(_ name: String) -> CommandError {
        // Searching a longer list would take too long for a hint.
        let isShort = (try? maintenance.information()).map { $0.entries <= 20_000 } ?? false
        let names = isShort ? (try? keys()) ?? [] : []
        // Source code uses keys without the program's name in front.
        let ofProgram = names.first { $0.utf8.drop { $0 != UInt8(ascii: "/") }.elementsEqual("/\(name)".utf8) }
        return .absent(name, near: NearName.nearest(to: name, among: names) ?? ofProgram)
    }
}

extension AdvisedCommand {
    /// Creates the advice from the options for the vault and its key on a command line.
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
