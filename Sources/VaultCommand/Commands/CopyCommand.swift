import Vault

enum CopyCommand: Command {
    static let description = CommandDescription(
        name: .copy,
        summary: "copy a value to another name",
        arguments: Relocation.arguments("copy"),
        options: Relocation.options,
        details: ["Its attributes are copied too."],
        examples: [.init(line: "vault cp u.token u.token.old", meaning: "under both names")],
        exitCodes: Relocation.exitCodes
    )

    static func run(_ session: Session) throws -> ExitCode {
        try Relocation.run(session) { keychain, from, to, isForced in
            try keychain.copy(from, to: to, replacing: isForced)
        }
        return .success
    }
}
