enum ManCommand: Command {
    static let description = CommandDescription(
        name: .man, section: .help, summary: "print the manual page",
        details: ["The page is in the man(7) format."],
        examples: [
            .init("vault man > ~/.local/share/man/man1/vault.1", "install it for `man vault`")
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try invocation.finish(json: ["page": ManPage.text]) { ManPage.text }
    }
}
