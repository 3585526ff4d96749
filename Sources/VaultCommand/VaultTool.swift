import CLinux
import Glibc

/// The tool from its arguments to its exit code.
@main
enum VaultTool {
    static func main() {
        exit(run().rawValue)
    }

    private static func run() -> ExitCode {
        let state = ProcessState.harden()
        var wantsJSON = false
        do {
            let words = try readWords()
            // The parser may fail before it reaches the option, and the error has to have the form that was asked for.
            wantsJSON = words.prefix { $0 != "--" }.contains(OptionName.json.spelling)
            let invocation = try CommandLineParser.parse(words)
            return try invocation.command.command.run(Session(invocation))
        } catch UsageError.noCommand where !wantsJSON {
            StandardError.write(TextLayout.fitted(HelpText.short(), to: StandardError.columns))
            return .usage
        } catch {
            if error is ClosedPipe { state.endByClosedPipe() }
            let error = CommandError(error)
            Notes.report(error, asJSON: wantsJSON)
            return error.exit
        }
    }

    /// Returns the words after the program's name. Swift's own list repairs what is not UTF-8, and a repaired path leads
    /// to another file.
    private static func readWords() throws(UsageError) -> [String] {
        var words: [String] = []
        for index in 1..<max(1, vault_argument_count()) {
            guard let pointer = vault_argument(index) else { break }
            guard let word = String(validatingCString: pointer) else { throw .notUnicode(Int(index)) }
            words.append(word)
        }
        return words
    }
}
