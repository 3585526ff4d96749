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
