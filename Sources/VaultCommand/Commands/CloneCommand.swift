enum CloneCommand: Command {
    static let description = CommandDescription(
        name: .clone, summary: "copy a vault from one place to another: a file, a database",
        arguments: [
            .init(name: "FROM", completion: .file, help: "The vault file or URL that is copied."),
            .init(name: "TO", completion: .file, help: "The new place. There must be no vault."),
        ],
        options: [.init(name: .force, short: "f", help: "Replace the vault at TO if there is one.")],
        details: [
            """
            The copy is the same vault: the same keys open it, and machines that know the one take the other for it. \
            It is read and authenticated in full before it gets its place.
            """,
            """
            A server that was put back to an older state is restored from the copy that any machine keeps of its \
            vault: `vault clone --offline URL URL --force`. `vault info` shows where that copy is.
            """,
        ],
        examples: [
            .init("vault clone team.vault postgresql://db.example.org/vaults#team", "move a file into a database"),
            .init("vault clone postgresql://db.example.org/vaults#team team.vault", "take a backup of it"),
        ],
        exitCodes: [.init(.refused, "there is a vault at TO; it is left alone")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let (source, target) = (invocation.arguments[0], invocation.arguments[1])
        return try BackupCommand.copy(invocation.openVault(placedAt: source), to: target, "Copying", invocation)
    }
}
