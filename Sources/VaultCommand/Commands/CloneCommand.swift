enum CloneCommand: Command {
    static let description = CommandDescription(
        name: .clone, summary: "copy a vault from one place to another: a file, a database",
        arguments: [
            .init(name: "FROM", completion: .file, help: "The vault file or URL that is copied."),
            .init(name: "TO", completion: .file, help: "The new place. There must be nothing."),
        ],
        options: [.init(name: .force, short: "f", help: "Replace an earlier copy of this vault at TO.")],
        details: [
            """
            The copy is the same vault: the same keys open it, and machines that know the one take the other for it. \
            It is read and authenticated in full before it gets its place. In a database it is bound to its name there: no \
            server can show it under another one.
            """,
            """
            A server that was put back to an older state is restored from the copy that any machine keeps of its \
            vault: `vault clone --offline URL URL --force`. `vault info` shows where that copy is.
            """,
            """
            With --force, TO is replaced only if the copy has all that is in it. Otherwise merge it: see `vault help \
            merge`. Another vault, and a file that does not open, have to be moved away first.
            """,
        ],
        examples: [
            .init("vault clone team.vault postgresql://db.example.org/vaults#team", "move a file into a database"),
            .init("vault clone postgresql://db.example.org/vaults#team team.vault", "take a backup of it"),
        ],
        exitCodes: [.init(.refused, "there is something at TO, or the copy would lack some of it; it is left alone")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let (source, target) = (invocation.arguments[0], invocation.arguments[1])
        return try BackupCommand.copy(invocation.openVault(placedAt: source), to: target, "Copying", invocation)
    }
}
