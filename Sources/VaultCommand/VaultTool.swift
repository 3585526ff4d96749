import CVaultCommand
import Glibc
package import Vault

/// The command line tool; see `vault help`.
package enum VaultTool {
    /// - Parameter databases: opens vaults in databases. If it is nil, another program is started for such vaults.
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
            // If the location cannot be determined, the command itself reports the error.
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
            // A program that is started may use any other exit code.
            if let exit = parser.description?.failure, ![.notExecutable, .notInstalled].contains(error.exit) {
                error.exit = exit
            }
            Notes.report(error, asJSON: parser.wantsJSON)
            return error.exit
        }
    }

    /// Returns the arguments. An argument that is not UTF-8 is nil, because Swift's own list repairs it, and a repaired
    /// path could name another file. If a helper's name started the program, the helper's command comes first.
    private static func readWords() -> [String?] {
        let program = vault_argument(0).flatMap(String.init(validatingCString:)) ?? ""
        var words: [String?] = []
        while let pointer = vault_argument(Int32(words.count + 1)) { words.append(String(validatingCString: pointer)) }
        return HelperName.words(forProgramAt: program) + words
    }
}
