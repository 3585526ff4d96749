enum ManCommand: Command {
    static let description = CommandDescription(
        name: .man, summary: "print the manual page",
        details: ["It is in the format man(7)."],
        examples: [
            .init("vault man > ~/.local/share/man/man1/vault.1", "install it for `man vault`")
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try invocation.finish(json: ["page": ManPage.text]) { ManPage.text }
    }
}
