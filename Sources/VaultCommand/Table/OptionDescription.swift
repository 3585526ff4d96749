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
    /// The only values there are; empty where any will do.
    var choices: [String] = []
    var isRepeatable = false
    var completion: Completion = .none
    let help: String
}
