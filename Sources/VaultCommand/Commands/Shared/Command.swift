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

    /// Prints a command's result as text or JSON, and returns the exit code. In text form, many commands print nothing.
    func finish(
        _ exit: ExitCode = .success, json report: @autoclosure () -> JSONObject, text: () -> String = { "" }
    ) throws -> ExitCode {
        try StandardOutput.write(wantsJSON ? report().line() : text())
        return exit
    }

    /// Writes the result of a command that has changed a vault, then performs any maintenance that is due.
    func finish(_ keychain: Keychain, json report: @autoclosure () -> JSONObject) throws -> ExitCode {
        let exit = try finish(json: report().marked(by: keychain))
        keychain.maintenance.finishUpkeep()
        return exit
    }

    /// Reports the reading policies of the entries just stored, because a new value keeps the policy of the value that
    /// it replaces. Ignores a failure to read the policies, because the values are already stored.
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
    /// Adds the property `pending` if a change to the vault is still stored only on this machine.
    func marked(by keychain: Keychain?) -> JSONObject {
        keychain?.copies.isKeptApart == true ? adding("pending", true) : self
    }
}

extension Keychain {
    /// Returns the key that has this number in `vault key ls`.
    func key(_ number: Int) throws -> VaultKeys.Key {
        let keys = try vaultKeys.all()
        if let key = keys.first(where: { $0.number == number }) { return key }
        throw VaultError(.absent, "No key \(number). The vault has these keys:\n\(keys.lines.dropLast())")
    }

    /// Returns the error for a missing name, with the most similar name as a suggestion.
    func absent(_ name: String) -> CommandError {
        // With more than 20,000 entries, the search would take too long for a mere suggestion.
        let isShort = (try? maintenance.information()).map { $0.entries <= 20_000 } ?? false
        let names = isShort ? (try? keys()) ?? [] : []
        // The names of a program's entries begin with the program's name and a slash, which the user may have omitted.
        let ofProgram = names.first { $0.utf8.drop { $0 != UInt8(ascii: "/") }.elementsEqual("/\(name)".utf8) }
        return .absent(name, near: NearName.nearest(to: name, among: names) ?? ofProgram)
    }
}
