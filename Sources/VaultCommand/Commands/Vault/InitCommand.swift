import Vault

enum InitCommand: Command {
    static let description = CommandDescription(
        name: .initialize, section: .vault, summary: "create a vault and, if there is none, its key file",
        options: [
            .init(name: .label, value: "TEXT", help: "A label for the key, such as laptop. It is stored sealed."),
            .init(name: .sql, help: "Only print the SQL with which an administrator prepares the database."),
            .stretchCost,
            .init(name: .force, short: "f", help: "Create a vault even if this machine remembers another at its path."),
        ],
        details: """
            The first `vault set` also creates a vault, without a label.

            If this machine remembers a vault at the same path that no longer exists, the command asks before it \
            creates another one. Restore the old one instead if you can.

            In a database, this also creates the tables and, if permitted, the roles vault_reader and vault_writer. If \
            users may not create tables, an administrator runs the output of `vault init --sql` and grants the roles.

            An existing key file is used as it is, even if it is not a generated key, such as a Docker secret or a \
            passphrase in a file. If there is none, one is generated. The key file must never change.

            A key file that was not generated might be guessed. Each guess costs 3 passes of Argon2id over 64 MiB, \
            about 0.1 seconds. --argon2id sets another cost, such as 1,64 or 10,76. `vault compact --argon2id` raises \
            the cost later.
            """,
        examples: [
            .init("vault init --label laptop", "create a vault at the standard locations"),
            .init(
                "vault init --vault ./ci.vault --key-file /media/keys/ci.key",
                "create a vault elsewhere, with its key on a separate disk"),
        ],
        exitCodes: [.init(.refused, "a vault already exists (and is left alone), or a remembered one is gone")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        if invocation.has(.sql) {
            guard let sql = try invocation.location().databasePreparation() else {
                throw UsageError.onlyWith(.sql, "a vault in a database: --vault postgresql://HOST/DATABASE")
            }
            return try invocation.finish(json: ["sql": sql]) { sql }
        }
        let keychain = try create(invocation, replacingGone: invocation.has(.force))
        return try invocation.finish(json: keychain.created.json(at: keychain.location))
    }

    private static func create(_ invocation: Invocation, replacingGone isReplacing: Bool) throws -> Keychain {
        let label = invocation.value(of: .label) ?? ""
        let cost = try invocation.stretchCost ?? .standard
        do {
            return try invocation.createVault(label: label, cost: cost, replacingGone: isReplacing)
        } catch let error as VaultError where error.code == .gone {
            guard Confirmation.ask("\(error.message.forTerminal) Create a new, empty one? [y/N] ") else { throw error }
            return try create(invocation, replacingGone: true)
        }
    }
}
