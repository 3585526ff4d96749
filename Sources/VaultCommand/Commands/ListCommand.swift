import Vault

enum ListCommand: Command {
    static let description = CommandDescription(
        name: .list,
        summary: "list the names",
        arguments: [
            ArgumentDescription(
                name: "PREFIX", count: .optional, completion: .secretName, help: "List only names that begin so.")
        ],
        options: [ItemList.longOption],
        details: [
            "One name a line, in the order of their bytes. A vault without such names lists nothing: that is no error.",
            ItemList.completeness,
        ],
        examples: [
            .init(line: "vault ls ssh/", meaning: "the names below ssh/"),
            .init(line: "vault ls --json", meaning: "everything but the values, for programs"),
        ]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let prefix = session.invocation.arguments.first ?? ""
        try ItemList(session.openVault().listing(prefix: prefix)).print(session)
        return .success
    }
}
