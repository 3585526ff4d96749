import Vault

enum ExistsCommand: Command {
    static let description = CommandDescription(
        name: .exists,
        summary: "tell by the exit code whether there is a name",
        arguments: [ArgumentDescription(name: "NAME", completion: .secretName, help: "The name.")],
        details: ["Nothing is printed, unless --json is given."],
        examples: [.init(line: "vault exists u.token || vault set u.token", meaning: "set it unless it is there")],
        exitCodes: [
            .init(code: .success, meaning: "the name is there"),
            .init(code: .notFound, meaning: "it is not, or there is no vault"),
        ]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let exists = try session.openVault().exists(session.name)
        if session.wantsJSON {
            try StandardOutput.write(JSONText.encode(ExistsReport(name: session.name, exists: exists)))
        }
        return exists ? .success : .notFound
    }
}

struct ExistsReport: Encodable {
    let name: String
    let exists: Bool
}
