import Vault

enum MoveCommand: Command {
    static let description = CommandDescription(
        name: .move,
        summary: "give a name's value another name",
        arguments: Relocation.arguments("move"),
        options: Relocation.options,
        details: ["Its attributes go along. Others see either the old name or the new one, never both or none."],
        examples: [.init(line: "vault mv u.token u.token.old", meaning: "under the new name only")],
        exitCodes: Relocation.exitCodes
    )

    static func run(_ session: Session) throws -> ExitCode {
        try Relocation.run(session) { keychain, from, to, isForced in
            try keychain.rename(from, to: to, replacing: isForced)
        }
        return .success
    }
}
