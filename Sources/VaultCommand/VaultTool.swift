import CVaultCommand
import Glibc
package import Vault

/// The command line tool; see `vault help`.
package enum VaultTool {
    /// - Parameter databases: opens vaults in databases; nil to run another program for such vaults.
    package static func main(databases: VaultLocation.Databases? = nil) { exit(run(databases).rawValue) }

    private static func run(_ databases: VaultLocation.Databases?) -> ExitCode {
        let endsByClosedPipe = ProcessState.harden()
        let words = readWords()
        var parser = CommandLineParser(words)
        var known: Invocation?
        do {
            if ClipboardClearing.isThisProcess { return try ClipboardClearing.run(words.compactMap(\.self)) }
            var invocation = try parser.parse()
            invocation.databases = databases
            let needsVault = invocation.command.description.section != .help
            // An error is ignored here: the command reports it when it needs the vault's location.
            if needsVault { invocation.knownLocation = try? invocation.location() }
            known = invocation
            try SharedProgram.takeOver(invocation)
            if needsVault { Notes.warnIfMemoryIsOpen(asJSON: invocation.wantsJSON) }
            return try invocation.command.command.run(invocation)
        } catch UsageError.noCommand where !parser.wantsJSON {
            StandardError.write(TextLayout.fitted(HelpText.short(), to: terminalWidth(STDERR_FILENO)))
            return .usage
        } catch {
            var error = CommandError(error, advising: known.map(AdvisedCommand.init) ?? AdvisedCommand())
            if endsByClosedPipe, error == .unwritableOutput(EPIPE) {
                signal(SIGPIPE, SIG_DFL)
                raise(SIGPIPE)
            }
            // `vault run` itself uses only three exit codes, because the program that it starts may use all others.
            if let exit = parser.description?.failure, ![.notExecutable, .notInstalled].contains(error.exit) {
                error.exit = exit
            }
            Notes.report(error, asJSON: parser.wantsJSON)
            return error.exit
        }
    }

    /// Returns the arguments, with nil for any that is not UTF-8. Swift's own list would replace invalid bytes, and so
    /// could name another file. If the program was started under a helper's name, the helper's command comes first.
    private static func readWords() -> [String?] {
        let program = vault_argument(0).flatMap(String.init(validatingCString:)) ?? ""
        var words: [String?] = []
        while let pointer = vault_argument(Int32(words.count + 1)) { words.append(String(validatingCString: pointer)) }
        return HelperName.words(forProgramAt: program) + words
    }
}
