import Glibc
import Vault

enum SetCommand: Command {
    static let description = CommandDescription(
        name: .set,
        summary: "store a value under a name",
        arguments: [
            ArgumentDescription(name: "NAME", completion: .secretName, help: "The name, such as u.token or ssh/key.")
        ],
        options: [
            OptionDescription(
                name: .attribute, short: "a", value: "KEY=VALUE", isRepeatable: true,
                help: "An attribute to find the name by. Those given replace all existing ones."),
            OptionDescription(
                name: .file, value: "PATH", completion: .file,
                help: "Read the value from a file, byte for byte; - is standard input."),
            OptionDescription(name: .exact, help: "Keep the input byte for byte, including a final newline."),
            OptionDescription(name: .allowEmpty, help: "Store an empty value. Without it, empty input is an error."),
        ],
        details: [
            """
            The value is never an argument. At a terminal you type it twice, hidden. From a pipe it is read to the end. \
            If the input is a single line, its final newline is not part of the value. Newlines in longer input are, \
            and so are carriage returns. A value has up to 16 MiB of any bytes.
            """,
            """
            The prompt refuses a NAME with an equals sign: `vault set NAME=VALUE` would make the value part of a name.
            """,
            """
            At the prompt, Backspace, Ctrl-W and Ctrl-U erase a character, a word and the line, Ctrl-V takes the next \
            byte literally, and Ctrl-D on an empty line cancels. Other control keys, arrows and function keys are ignored.
            """,
            "Creates the vault and key file on first use, and prints where.",
        ],
        examples: [
            .init(line: "vault set u.token", meaning: "ask for the value"),
            .init(line: "gh auth token | vault set github -a host=github.com", meaning: "take it from a program"),
            .init(line: "vault set ssh/key --file ~/.ssh/id_ed25519", meaning: "take it from a file"),
        ],
        exitCodes: [
            .init(code: .usage, meaning: "the value is empty or too large, or was given as an argument"),
            .init(code: .refused, meaning: "the two inputs at the prompt differ, or Ctrl-D cancelled it"),
        ],
        mayHoldSecrets: true
    )

    static func run(_ session: Session) throws -> ExitCode {
        let pairs = session.invocation.values(of: .attribute)
        let attributes = pairs.isEmpty ? nil : try Attributes.parse(pairs)
        // Name and value are checked first: no vault is created for what is then refused.
        try Keychain.checkName(session.name)
        let value = try readValue(session)
        guard value.count > 0 || session.invocation.has(.allowEmpty) else {
            throw CommandError.invalid("The value is empty; nothing was stored. Use --allow-empty to store it.")
        }
        try session.openVault(creating: .ifAbsent).set(session.name, to: value, attributes: attributes)
        try session.print(json: SetReport(name: session.name, size: value.count))
        return .success
    }

    private static func readValue(_ session: Session) throws -> SecretBytes {
        let isExact = session.invocation.has(.exact)
        if let path = session.invocation.value(of: .file) {
            let reader = ValueReader(source: path == "-" ? "Standard input" : path, isExact: true)
            return try path == "-" ? reader.read(from: STDIN_FILENO) : reader.readFile(at: path)
        }
        if isatty(STDIN_FILENO) == 1 {
            // In `vault set token=secret` the secret is meant as a value, but lists would show it as a name.
            guard !session.name.utf8.contains(UInt8(ascii: "=")) else { throw UsageError.valueInName }
            try checkBeforeAsking(session)
            return try ValuePrompt.ask(for: session.name)
        }
        return try ValueReader(source: "Standard input", isExact: isExact).read(from: STDIN_FILENO)
    }

    /// Opens the vault first: a person should not type a secret twice only to learn that the vault is locked.
    private static func checkBeforeAsking(_ session: Session) throws {
        do {
            _ = try session.openVault().exists(session.name)
        } catch let error as VaultError where error.code == .noVault {
            // The vault is created once there is a value.
        }
    }
}

struct SetReport: Encodable {
    let name: String
    let size: Int
}
