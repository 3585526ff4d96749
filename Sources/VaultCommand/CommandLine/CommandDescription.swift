import Vault

/// The commands, in the order in which help lists them.
enum CommandName: String, CaseIterable, Sendable, Encodable {
    case initialize = "init"
    case set, get
    case list = "ls"
    case find, exists
    case remove = "rm"
    case move = "mv"
    case copy = "cp"
    case info, verify, compact, salvage, help, version
}

/// All that the parser and the help know of a command.
struct CommandDescription: Sendable {
    let name: CommandName
    /// Half a sentence, without a full stop.
    let summary: String
    var arguments: [ArgumentDescription] = []
    var options: [OptionDescription] = []
    /// Paragraphs.
    var details: [String] = []
    var examples: [ExampleDescription] = []
    var exitCodes: [ExitCodeDescription] = []
    /// Whether a person may have typed a secret among the words by mistake: then no error repeats a word.
    var mayHoldSecrets = false
}

struct ExampleDescription: Sendable, Encodable {
    let line: String
    let meaning: String

    init(_ line: String, _ meaning: String) { (self.line, self.meaning) = (line, meaning) }
}

struct ExitCodeDescription: Sendable, Encodable {
    let code: ExitCode
    let meaning: String

    init(_ code: ExitCode, _ meaning: String) { (self.code, self.meaning) = (code, meaning) }
}

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
    case vault, json, timeout, help, version
    case keyFile = "key-file"
    case acceptRolledBack = "accept-rolled-back"
    case acceptDiverged = "accept-diverged"
    case acceptExchanged = "accept-exchanged"
    case acceptSharedKey = "accept-shared-key"
    // Of single commands.
    case argon2id, attribute, exact, file, force, label, long, newline, type
    case allowEmpty = "allow-empty"

    /// As it is typed: `--key-file`.
    var spelling: String { "--" + rawValue }
}

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
        .init(
            name: .vault, value: "PATH", completion: .file,
            help: "The vault file (default: $VAULT_FILE, or the standard location)."),
        .init(
            name: .keyFile, value: "PATH", completion: .file,
            help: "The key file (default: $VAULT_KEY_FILE, or the standard locations)."),
        .init(name: .json, help: "Write results and errors as JSON; see `vault help json`."),
        .init(
            name: .timeout, value: "SECONDS",
            help: "How long to wait for another writer (default: 10). 0 does not wait."),
        .init(name: .acceptRolledBack, help: "Accept, once, a vault file that is older than this machine remembers."),
        .init(
            name: .acceptDiverged,
            help: "Accept, once, a vault file with another history than this machine remembers."),
        .init(name: .acceptExchanged, help: "Accept, once, a different vault from the one this machine remembers."),
        .init(
            name: .acceptSharedKey,
            help: "Accept a key file that belongs to root and that others can read; see `vault help places`."),
        .init(name: .help, short: "h", help: "Show help."),
        .init(name: .version, help: "Show the version."),
    ]
}

// MARK: - What was typed

/// A checked command line: a known command, known options, the right number of arguments.
struct Invocation: Equatable, Sendable {
    let command: CommandName
    var arguments: [String] = []
    /// The values of each option that is given, in order; none for an option that takes none.
    var options: [OptionName: [String]] = [:]

    func has(_ name: OptionName) -> Bool { options[name] != nil }

    func value(of name: OptionName) -> String? { options[name]?.first }

    /// nil unless `--timeout` is given.
    var lockTimeout: Duration? {
        get throws(UsageError) {
            guard let text = value(of: .timeout) else { return nil }
            // Not a number fails both comparisons.
            guard let seconds = Double(text), seconds >= 0, seconds <= 1_000_000 else { throw .badTimeout }
            return .seconds(seconds)
        }
    }

    /// From passes over the memory, and the memory in MiB; nil unless `--argon2id` is given.
    var stretchCost: Keychain.KeyFileCost? {
        get throws(UsageError) {
            guard let text = value(of: .argon2id) else { return nil }
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
            guard numbers.count == 2, let passes = numbers[0], let mebibytes = numbers[1],
                case (let memory, false) = mebibytes.multipliedReportingOverflow(by: 1 << 20)
            else { throw .badCost }
            return Keychain.KeyFileCost(passes: passes, memory: memory)
        }
    }
}

extension OptionDescription {
    static let stretchCost = OptionDescription(
        name: .argon2id, value: "PASSES,MIB",
        help: "Argon2id passes and memory: the cost of guessing a key file that was not generated.")
}

/// Attributes as they are typed: `KEY=VALUE`.
enum Attributes {
    /// Returns the pairs as a dictionary. Errors repeat none of them: a secret may have been typed by mistake.
    static func parse(_ pairs: [String]) throws(UsageError) -> [String: String] {
        var attributes: [String: String] = [:]
        for pair in pairs {
            guard let (key, value) = split(pair) else { throw .badAttribute }
            guard attributes.updateValue(value, forKey: key) == nil else { throw .doubledAttribute }
        }
        return attributes
    }

    /// Splits an attribute, or an option with its value; nil if there is no equals sign, or nothing before it.
    static func split(_ pair: String) -> (key: String, value: String)? {
        guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")), equals > pair.startIndex else { return nil }
        return (String(pair[..<equals]), String(pair[pair.utf8.index(after: equals)...]))
    }
}
