import Vault

enum InitCommand: Command {
    static let description = CommandDescription(
        name: .initialize, summary: "create a vault and, if there is none, its key file",
        options: [
            .init(
                name: .label, value: "TEXT", help: "A label for the key, such as laptop. The vault stores it sealed."),
            .init(name: .sql, help: "Create nothing: print the SQL by which an administrator prepares the database."),
            .stretchCost,
        ],
        details: [
            "The first `vault set` does the same, without a label.",
            """
            In a database, it also creates the tables, and the roles vault_reader and vault_writer if it may. Where users \
            may not create tables, an administrator runs what `vault init --sql` prints, and grants the roles.
            """,
            """
            An existing key file is used as it is, even if it is not a vault key, such as a Docker secret or a \
            passphrase in a file. If there is none, one is generated. It must never change.
            """,
            """
            A key file that was not generated may be guessed. Each guess costs 3 passes of Argon2id over 64 MiB, about \
            0.1 seconds. --argon2id sets another cost, such as 1,64 or 10,76. `vault compact --argon2id` raises it \
            later.
            """,
        ],
        examples: [
            .init("vault init --label laptop", "at the standard locations"),
            .init(
                "vault init --vault ./ci.vault --key-file /media/keys/ci.key",
                "at other locations, the key on a separate disk"),
        ],
        exitCodes: [.init(.refused, "a vault already exists; it is left alone")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        if invocation.has(.sql) {
            guard let sql = try invocation.places().databasePreparation() else {
                throw UsageError.onlyWith(.sql, "a vault in a database: --vault postgresql://HOST/DATABASE")
            }
            return try invocation.finish(json: ["sql": sql]) { sql }
        }
        let cost = try invocation.stretchCost ?? .standard
        let keychain = try invocation.createVault(label: invocation.value(of: .label) ?? "", cost: cost)
        return try invocation.finish(json: keychain.created.json(at: keychain.places))
    }
}
