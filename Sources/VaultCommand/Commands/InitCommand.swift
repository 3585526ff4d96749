import Vault

enum InitCommand: Command {
    static let description = CommandDescription(
        name: .initialize,
        summary: "make a vault and, where there is none, its key file",
        options: [
            OptionDescription(
                name: .label, value: "TEXT", help: "Name the key in the vault, such as laptop; it is kept sealed."),
            StretchCost.option,
        ],
        details: [
            "The first `vault set` does the same, without a label.",
            """
            A key file that is there already is used as it is, also one that is no vault key, such as a Docker secret \
            or a passphrase in a file. One that is not there is generated. It must never change.
            """,
            """
            A key file that is no vault key may be guessed at. Each guess costs 3 passes of Argon2id over 64 MiB, some \
            0.1 seconds; --argon2id 1,64 to 10,76 and the like choose another cost, `vault compact` raises it later.
            """,
        ],
        examples: [
            .init(line: "vault init --label laptop", meaning: "at the standard places"),
            .init(
                line: "vault init --vault ./ci.vault --key-file /media/keys/ci.key",
                meaning: "at other places, the key on a disk of its own"),
        ],
        exitCodes: [.init(code: .refused, meaning: "there is a vault already; it is left as it is")]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let cost = try session.invocation.value(of: .argon2id).map(StretchCost.parse) ?? .standard
        let keychain = try session.makeVault(label: session.invocation.value(of: .label) ?? "", cost: cost)
        try session.print(json: MadeReport(keychain))
        return .success
    }
}
