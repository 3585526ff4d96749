import Vault

/// A command: what the parser and the help know of it, and what it does.
protocol Command {
    static var description: CommandDescription { get }

    /// Runs the command. An error ends the process with its exit code; see ``CommandError``.
    static func run(_ session: Session) throws -> ExitCode
}

/// The table of the commands. Descriptions are static properties of the commands, so that a start creates only one.
extension CommandName {
    /// What runs under the name.
    var command: any Command.Type {
        switch self {
        case .initialize: InitCommand.self
        case .set: SetCommand.self
        case .get: GetCommand.self
        case .list: ListCommand.self
        case .find: FindCommand.self
        case .exists: ExistsCommand.self
        case .remove: RemoveCommand.self
        case .move: MoveCommand.self
        case .copy: CopyCommand.self
        case .info: InfoCommand.self
        case .verify: VerifyCommand.self
        case .compact: CompactCommand.self
        case .salvage: SalvageCommand.self
        case .help: HelpCommand.self
        case .version: VersionCommand.self
        }
    }

    var description: CommandDescription { command.description }
}

/// One run of the tool: its invocation, and access to the vault and the outputs.
struct Session {
    let invocation: Invocation
    private let options: Keychain.Options

    /// - Throws: ``UsageError`` for an invalid value of a global option, before anything is read or asked for.
    init(_ invocation: Invocation) throws(UsageError) {
        self.invocation = invocation
        options = try Keychain.Options(invocation)
    }

    var wantsJSON: Bool { invocation.has(.json) }

    /// The first argument; the parser has checked that there is one.
    var name: String { invocation.arguments[0] }

    /// Writes a result to standard output, as text or JSON. Many commands have a result only in JSON.
    func print(json report: @autoclosure () throws -> some Encodable, text: () throws -> String = { "" }) throws {
        try StandardOutput.write(wantsJSON ? JSONText.encode(report()) : text())
    }

    /// Returns a text from the vault for a line of a list: as it is for a pipe, escaped for a terminal.
    func shown(_ text: String) -> String {
        StandardOutput.isTerminal ? text.forTerminal : text
    }
}

// MARK: - The vault

extension Session {
    /// Opens the vault that the options name. Reports it if that created one.
    func openVault(creating: Keychain.Creation = .never) throws -> Keychain {
        let keychain = try Keychain(at: places(), creating: creating, options: options, failures: warnings)
        announce(keychain)
        return keychain
    }

    /// Creates a vault at the path that the options name; an existing one is an error.
    func createVault(label: String, cost: KeyFileCost) throws -> Keychain {
        let keychain = try Keychain.create(at: places(), label: label, cost: cost, options: options, failures: warnings)
        announce(keychain)
        return keychain
    }

    /// Copies what is intact of the vault that the options name.
    func salvage(to target: String) throws -> Salvage {
        try withProgress("Salvaging") { progress in
            try Keychain.salvage(from: places(), to: target, options: options, progress: progress)
        }
    }

    /// Runs a long call and shows its progress at the terminal.
    func withProgress<Result>(_ title: String, _ body: (UpkeepProgress?) throws -> Result) throws -> Result {
        let line = wantsJSON ? nil : ProgressLine(title)
        defer { line?.end() }
        return try body(line?.progress)
    }

    /// Reports problems that the library meets and that do not stop the command.
    private var warnings: FailureLog {
        FailureLog { [wantsJSON] error, _ in Notes.warn(CommandError(error), asJSON: wantsJSON) }
    }

    private func announce(_ keychain: Keychain) {
        let made = MadeReport(keychain)
        if made.madeVault || made.madeKeyFile { Notes.report(made, asJSON: wantsJSON) }
    }

    private func places() throws -> VaultPlaces {
        try VaultPlaces.standard(vault: invocation.value(of: .vault), keyFile: invocation.value(of: .keyFile))
    }
}

extension Session {
    /// A longer list of names is not searched for the sake of a hint.
    private static let mostNamesSearched = 20_000

    /// Returns the error for a missing name, with the name that may have been meant.
    func absent(_ name: String, in keychain: Keychain) -> CommandError {
        guard let information = try? keychain.information(), information.entries <= Self.mostNamesSearched,
            let names = try? keychain.names()
        else { return .absent(name, near: nil) }
        return .absent(name, near: NearName.nearest(to: name, among: names))
    }
}

extension Keychain.Options {
    fileprivate init(_ invocation: Invocation) throws(UsageError) {
        self.init()
        if let seconds = invocation.value(of: .timeout) {
            lockTimeout = try LockTimeout.parse(seconds)
        }
        if invocation.has(.acceptRolledBack) { acceptedAlarms.insert(.rolledBack) }
        if invocation.has(.acceptDiverged) { acceptedAlarms.insert(.diverged) }
        if invocation.has(.acceptExchanged) { acceptedAlarms.insert(.exchanged) }
        acceptsSharedKeyFile = invocation.has(.acceptSharedKey)
        if !invocation.has(.json) { onWaiting = Notes.reportWaiting }
    }
}
