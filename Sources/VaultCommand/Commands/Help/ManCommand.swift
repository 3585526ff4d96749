enum ManCommand: Command {
    static let description = CommandDescription(
        name: .man, section: .help, summary: "print the manual page",
        details: "The page is in the man(7) format.",
        examples: [.init("vault man > ~/.local/share/man/man1/vault.1", "install it for `man vault`")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try invocation.finish(json: ["page": ManPage.text]) { ManPage.text }
    }
}

/// The manual page, generated from the command table.
enum ManPage {
    static var text: String {
        [
            ".TH VAULT 1 \(ToolVersion.date) \"vault \(ToolVersion.number)\" \"User Commands\"\n",
            Roff.macro("SH", "NAME"), Roff.text("vault - keep secrets in an encrypted file"),
            Roff.macro("SH", "SYNOPSIS"), Roff.text("`vault` [OPTIONS] COMMAND [ARGUMENTS]"),
            Roff.macro("SH", "DESCRIPTION"), Roff.text(introduction),
            Roff.macro("SH", "OPTIONS"), Roff.text("These options may be given before or after any command."),
            Roff.definitions(HelpText.options(GlobalOptions.all)),
            CommandSection.allCases.filter { !$0.commands.isEmpty }.map(section).joined(),
            Roff.macro("SH", "ENVIRONMENT"), Roff.definitions(HelpTopic.variables),
            Roff.macro("SH", "FILES"), Roff.literal(HelpTopic.locations.text.dropLast(2)),
            Roff.macro("SH", "EXIT STATUS"),
            Roff.definitions(ExitCode.allCases.map { (String($0.rawValue), $0.meaning) }),
        ].joined()
    }

    private static let introduction = """
        The vault is one file, encrypted under a random key that a key file unlocks. Without the key file or another \
        key, the secrets are lost. Back up the key file, separately from the vault. `vault help json` describes the \
        output of --json.
        """

    private static func section(_ section: CommandSection) -> String {
        Roff.macro("SH", section.rawValue.uppercased()) + section.commands.map { command($0.description) }.joined()
    }

    private static func command(_ command: CommandDescription) -> String {
        let arguments = command.arguments.map { ($0.name, $0.help) }
        let exits = command.exitCodes.map { ("exit code \($0.code.rawValue)", $0.meaning) }
        let summary: String = command.summary.prefix(1).uppercased() + command.summary.dropFirst() + "."
        let paragraphs = [summary] + command.paragraphs
        var parts = [
            Roff.macro("SS", HelpText.usage(command)), paragraphs.map(Roff.text).joined(separator: Roff.macro("PP")),
        ]
        parts.append(Roff.definitions(arguments + HelpText.options(command.options) + exits))
        let examples = command.examples.map { ($0.line, $0.meaning) }
        if !examples.isEmpty { parts += [Roff.macro("PP"), Roff.text("Examples:"), Roff.definitions(examples)] }
        return parts.joined()
    }
}
