import Glibc
import LinuxSystem
import Vault

enum CompletionsCommand: Command {
    static let description = CommandDescription(
        name: .completions, section: .help, summary: "print a script that lets a shell complete commands and names",
        arguments: [.init(name: "SHELL", choices: ShellScript.allCases.map(\.rawValue), help: "bash, zsh or fish.")],
        options: [
            .init(
                name: .words,
                help: "Read a command line's words from a pipe, and print completions. Used by the script.")
        ],
        details: """
            Names are completed if the vault opens without a prompt: by its key file, an age identity, or after `vault \
            unlock`. Completion asks for no passphrase, runs no command or plugin, and opens no value.

            With --words, each word ends with a zero byte. The last word is the one to complete.
            """,
        examples: [
            .init("vault completions bash > ~/.vault.bash", "then add `. ~/.vault.bash` to ~/.bashrc"),
            .init("vault completions zsh > ~/.vault.zsh", "then add `. ~/.vault.zsh` to ~/.zshrc, after compinit"),
            .init("vault completions fish | source", "add this to ~/.config/fish/config.fish"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        // The parser has already validated the shell's name.
        guard let shell = ShellScript(rawValue: invocation.arguments[0]) else { return .usage }
        guard invocation.has(.words) else {
            return try invocation.finish(json: ["shell": shell.rawValue, "script": shell.text]) { shell.text }
        }
        var candidates = try read(in: shell)
        candidates.words.removeAll { $0.word.unicodeScalars.contains(where: \.isUnsafeOnTerminal) }
        return try invocation.finish(json: ["kind": candidates.kind, "words": candidates.words]) {
            ([candidates.kind.rawValue] + candidates.words.map { line($0, in: shell) }).map { $0 + "\n" }.joined()
        }
    }

    /// Reads the completion script's request: the typed words or, from bash, the line and its word separators.
    private static func read(in shell: ShellScript) throws -> Candidates {
        let input = try ValueInput.read(from: STDIN_FILENO, named: "Standard input", isExact: true, upTo: 1 << 20)
        let words = input.unsafeString()?.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
        guard let words, words.last == "", words.count > 2 else {
            throw CommandError.invalid("Malformed input for --words: end each word with a zero byte.")
        }
        guard shell == .bash else {
            return Candidates(after: Array(words[1...].dropLast(2)), current: words[words.count - 2])
        }
        let line = ShellLine(words[0], breaks: words[1])
        var candidates = Candidates(after: Array(line.words.dropFirst().dropLast()), current: line.words.last ?? "")
        candidates.words = candidates.words.map { .init(word: line.ending($0.word), meaning: $0.meaning) }
        return candidates
    }

    private static func line(_ word: Candidates.Word, in shell: ShellScript) -> String {
        shell == .bash ? word.word : word.word + (word.meaning.map { "\t\($0)" } ?? "")
    }
}
