import Vault

/// One run of the tool: what was asked for, and the ways to the vault and to the outputs.
struct Session {
    let invocation: Invocation
    private let options: Keychain.Options

    /// - Throws: ``UsageError`` if the value of a global option is none: before anything is read or asked for.
    init(_ invocation: Invocation) throws(UsageError) {
        self.invocation = invocation
        options = try Keychain.Options(invocation)
    }

    var wantsJSON: Bool { invocation.has(.json) }

    /// The first argument; the parser has checked that there is one where a command needs it.
    var name: String { invocation.arguments[0] }

    /// Writes a result to standard output, in the form that was asked for. Many commands have none but in JSON.
    func print(json report: @autoclosure () throws -> some Encodable, text: () throws -> String = { "" }) throws {
        try StandardOutput.write(wantsJSON ? JSONText.encode(report()) : text())
    }

    /// A text from the vault, for a line of a list: as it is in a pipe, made harmless on a terminal.
    func shown(_ text: String) -> String {
        StandardOutput.isTerminal ? text.forTerminal : text
    }
}

// MARK: - The vault

extension Session {
    /// Opens the vault that the options name. If that made one, says so.
    func openVault(creating: Keychain.Creation = .never) throws -> Keychain {
        let keychain = try Keychain(at: places(), creating: creating, options: options, failures: warnings)
        announce(keychain)
        return keychain
    }

    /// Makes a vault where the options say; an existing one is an error.
    func makeVault(label: String, cost: KeyFileCost) throws -> Keychain {
        let keychain = try Keychain.create(at: places(), label: label, cost: cost, options: options, failures: warnings)
        announce(keychain)
        return keychain
    }

    /// Copies what is whole of the vault that the options name.
    func salvage(to target: String) throws -> Salvage {
        try withProgress("Salvaging") { progress in
            try Keychain.salvage(from: places(), to: target, options: options, progress: progress)
        }
    }

    /// Does something long, and shows how far it has come where a person sees it.
    func withProgress<Result>(_ title: String, _ body: (UpkeepProgress?) throws -> Result) throws -> Result {
        let line = wantsJSON ? nil : ProgressLine(title)
        defer { line?.end() }
        return try body(line?.progress)
    }

    /// What the library meets that does not keep a command from doing its work is told beside the result.
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
    /// A list of names longer than this is not read through for the sake of a hint.
    private static let mostNamesSearched = 20_000

    /// The error for a name that is not there, with the name that may have been meant.
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
