import Vault

enum GetCommand: Command {
    static let description = CommandDescription(
        name: .get,
        summary: "write a value to standard output",
        arguments: [ArgumentDescription(name: "NAME", completion: .secretName, help: "The name.")],
        options: [
            OptionDescription(
                name: .newline, value: "WHEN", choices: ValueForm.Newline.allCases.map(\.rawValue),
                help: "Add a newline: yes, no, or auto (default), which adds one on a terminal.")
        ],
        details: [
            """
            A pipe or file gets the exact bytes. On a terminal, control characters, invisible characters and bytes that \
            are not UTF-8 are shown as escapes such as \\x1b or \\u{200b}, and a newline is added if there is none.
            """
        ],
        examples: [
            .init(line: "vault get u.token", meaning: "show it"),
            .init(line: "vault get ssh/key > key", meaning: "write it to a file, byte for byte"),
        ],
        exitCodes: [.init(code: .notFound, meaning: "no such name; a similar one is suggested")]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let keychain = try session.openVault()
        guard let value = try keychain.get(session.name) else { throw session.absent(session.name, in: keychain) }
        if session.wantsJSON {
            try StandardOutput.write(ValueForm.json(value, name: session.name))
            return .success
        }
        let newline = session.invocation.value(of: .newline).flatMap(ValueForm.Newline.init) ?? .auto
        if let rendered = try ValueForm.rendered(value, newline: newline, onTerminal: StandardOutput.isTerminal) {
            try StandardOutput.write(rendered)
        } else {
            try StandardOutput.write(value)
        }
        return .success
    }
}
