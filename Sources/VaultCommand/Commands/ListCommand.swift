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
            "One name a line, in the order of their bytes. A vault without such names lists nothing: that is no error."
        ],
        examples: [
            .init(line: "vault ls ssh/", meaning: "the names below ssh/"),
            .init(line: "vault ls --json", meaning: "everything but the values, for programs"),
        ]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let keychain = try session.openVault()
        let prefix = session.invocation.arguments.first ?? ""
        if session.wantsJSON || session.invocation.has(.long) {
            try ItemList.print(keychain.items(prefix: prefix), session)
        } else {
            try StandardOutput.write(ItemList.lines(keychain.names(prefix: prefix), session))
        }
        return .success
    }
}
