/// The commands, in the order in which help lists them.
enum CommandName: String, CaseIterable, Sendable, Encodable {
    case initialize = "init"
    case set
    case get
    case list = "ls"
    case find
    case exists
    case remove = "rm"
    case move = "mv"
    case copy = "cp"
    case info
    case verify
    case compact
    case salvage
    case help
    case version
}

/// All that the parser, the help, the completions and the manual know of a command.
struct CommandDescription: Sendable, Encodable {
    let name: CommandName
    /// Half a sentence, without a full stop.
    let summary: String
    var arguments: [ArgumentDescription] = []
    /// The command's own options; ``GlobalOptions`` come on top.
    var options: [OptionDescription] = []
    /// Paragraphs of help.
    var details: [String] = []
    var examples: [Example] = []
    /// The codes worth naming for this command.
    var exitCodes: [ExitNote] = []
    /// Whether a person may have typed a secret among the words by mistake: then no error repeats a word.
    var mayHoldSecrets = false

    struct Example: Sendable, Encodable {
        let line: String
        let meaning: String
    }

    struct ExitNote: Sendable, Encodable {
        let code: ExitCode
        let meaning: String
    }

    /// What `vault help COMMAND --json` writes: `mayHoldSecrets` is for the parser alone.
    private enum CodingKeys: CodingKey {
        case name, summary, arguments, options, details, examples, exitCodes
    }
}

/// A word that a command takes by its position.
struct ArgumentDescription: Sendable, Encodable {
    enum Count: String, Sendable, Encodable {
        case one, optional, oneOrMore
    }

    let name: String
    var count: Count = .one
    var completion: Completion = .none
    let help: String
}

/// What a shell offers for an argument or a value.
enum Completion: String, Sendable, Encodable {
    case none, file, secretName, command
}

/// Every option of the tool by its long name. What it does may differ from command to command; the spelling may not.
enum OptionName: String, CaseIterable, Sendable, Encodable {
    // Everywhere.
    case vault
    case keyFile = "key-file"
    case json
    case timeout
    case acceptRolledBack = "accept-rolled-back"
    case acceptDiverged = "accept-diverged"
    case acceptExchanged = "accept-exchanged"
    case acceptSharedKey = "accept-shared-key"
    case help
    case version
    // Of single commands.
    case allowEmpty = "allow-empty"
    case argon2id
    case attribute
    case exact
    case file
    case force
    case label
    case long
    case newline

    /// As it is typed: `--key-file`.
    var spelling: String { "--" + rawValue }
}

/// A row of a table of options.
struct OptionDescription: Sendable, Encodable {
    let name: OptionName
    /// One ASCII letter: `-a`.
    var short: String?
    /// What stands for the value in help; nil for an option that takes none.
    var value: String?
    /// The only values that are valid; empty if any is.
    var choices: [String] = []
    var isRepeatable = false
    var completion: Completion = .none
    let help: String
}

/// The options that may be given before or after any command.
enum GlobalOptions {
    static let all: [OptionDescription] = [
        OptionDescription(
            name: .vault, value: "PATH", completion: .file,
            help: "The vault file (default: $VAULT_FILE, or the standard location)."),
        OptionDescription(
            name: .keyFile, value: "PATH", completion: .file,
            help: "The key file (default: $VAULT_KEY_FILE, or the standard locations)."),
        OptionDescription(name: .json, help: "Write results and errors as JSON; see `vault help json`."),
        OptionDescription(
            name: .timeout, value: "SECONDS",
            help: "How long to wait for another writer (default: 10). 0 does not wait."),
        OptionDescription(
            name: .acceptRolledBack,
            help: "Accept, once, a vault file that is older than this machine remembers."),
        OptionDescription(
            name: .acceptDiverged,
            help: "Accept, once, a vault file with another history than this machine remembers."),
        OptionDescription(
            name: .acceptExchanged,
            help: "Accept, once, a different vault from the one this machine remembers."),
        OptionDescription(
            name: .acceptSharedKey,
            help: "Accept a key file that belongs to root and that others can read; see `vault help places`."),
        OptionDescription(name: .help, short: "h", help: "Show help."),
        OptionDescription(name: .version, help: "Show the version."),
    ]
}

/// A checked command line: a known command, known options, the right number of arguments.
struct Invocation: Equatable, Sendable {
    struct Option: Equatable, Sendable {
        let name: OptionName
        /// nil for an option without a value.
        let value: String?
    }

    let command: CommandName
    var arguments: [String] = []
    var options: [Option] = []

    func has(_ name: OptionName) -> Bool {
        options.contains { $0.name == name }
    }

    /// Returns the value of an option that may be given once.
    func value(of name: OptionName) -> String? {
        options.first { $0.name == name }?.value
    }

    /// Returns all values of a repeatable option, in order.
    func values(of name: OptionName) -> [String] {
        options.filter { $0.name == name }.compactMap(\.value)
    }
}
