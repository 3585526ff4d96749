import Formats
import Vault

enum SetupDirenvCommand: Command {
    static let description = CommandDescription(
        name: .setupDirenv, section: .helpers, summary: "set up direnv to get variables from the vault",
        options: [.dryRun, .undo],
        details: [
            """
            Adds the function `use_vault` to direnv/direnvrc in $XDG_CONFIG_HOME (default: ~/.config). Other lines of \
            the file stay. In a file .envrc, write `use vault`, followed by the arguments of `vault env`.
            """,
            """
            If a value is missing, an error is reported and no variable is set. direnv continues after a failure, \
            unless .envrc begins with `strict_env`.
            """,
            "With --vault or --key-file, the function uses that vault and key.",
        ],
        examples: [
            .init("vault setup direnv", "then write in a file .envrc: use vault GH_TOKEN=gh/token"),
            .init("vault setup direnv --undo", "remove the function again"),
        ],
        exitCodes: [.init(.refused, "the file has another function of this name")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let words = ([OtherProgram.ownWord, "env"] + (try invocation.handedOn())).map { OtherProgram.line([$0]) }
        let function = [
            "# Variables from the vault, in .envrc: use vault NAME=ENTRY",
            "use_vault() {",
            "  local variables",
            // The assignment comes first: a shell does not report a failure inside an eval.
            "  variables=$(\(words.joined(separator: " ")) \"$@\") || return",
            "  eval \"$variables\"",
            "}",
        ]
        let file = try EditedFile(OtherProgram.path(".config", orIn: "XDG_CONFIG_HOME") + "/direnv/direnvrc")
        let lines = FileLines(file.contents)
        let range = lines.range(of: function)
        return try invocation.finish(
            Setting(
                lines: ["# \(file.path)"] + function,
                write: {
                    guard range == nil else { return false }
                    guard !lines.contain("use_vault") else {
                        throw CommandError.refused("\(file.path) has another function use_vault. Remove it first.")
                    }
                    return try file.write(lines.adding(function))
                },
                undo: { try range.map { try file.write(lines.removing($0)) } ?? false }))
    }
}
