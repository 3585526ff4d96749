import FoundationEssentials
import Vault

/// The commands, in the order in which help lists them.
enum CommandName: String, CaseIterable, Sendable, Encodable {
    case initialize = "init"
    case set, get, show
    case attribute = "attr"
    case otp, generate
    case list = "ls"
    case find, exists
    case remove = "rm"
    case move = "mv"
    case copy = "cp"
    case history, restore, undo
    case unlock, lock
    case keyList = "key ls"
    case keyAdd = "key add"
    case keyRemove = "key rm"
    case keyCheck = "key check"
    case keyReplace = "key replace"
    case keyRotate = "key rotate"
    case keyShow = "key show"
    case keySplit = "key split"
    case keyJoin = "key join"
    case drop, collect
    case backup, merge
    case setupGitMerge = "setup git-merge"
    case info, verify, compact, salvage, help, version
}

extension CommandName {
    /// The first word of the commands that have two.
    static let groups = ["key", "setup"]

    static func inGroup(_ group: String) -> [CommandName] { allCases.filter { $0.rawValue.hasPrefix(group + " ") } }
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
        /// One or two words: a command's name.
        case upToTwo
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
    case keyFD = "key-fd"
    case keyCommand = "key-command"
    case identity
    case vaultFingerprint = "vault-fingerprint"
    case acceptRolledBack = "accept-rolled-back"
    case acceptDiverged = "accept-diverged"
    case acceptExchanged = "accept-exchanged"
    case acceptSharedKey = "accept-shared-key"
    // Of single commands.
    case argon2id, attribute, command, drop, exact, expires, expiring, file, fingerprint, force, key, label, last
    case layout, long, newline, passphrase, purge, recipient, recursive, session, type
    case ifAbsent = "if-absent"
    case allowEmpty = "allow-empty"
    case noQR = "no-qr"
    case detached, keep, output, to
    case dryRun = "dry-run"
    case at, next
    case classes, length, separator, show, words
    case noAmbiguous = "no-ambiguous"

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
            help: "The vault file, or its name in the configuration (default: $VAULT_FILE, or the standard location)."),
        .init(
            name: .keyFile, value: "PATH", completion: .file,
            help: "The key file (default: $VAULT_KEY_FILE, or the standard locations)."),
        .init(name: .keyFD, value: "NUMBER", help: "Read the key file's contents from this open descriptor."),
        .init(
            name: .keyCommand, value: "COMMAND",
            help: "Run this command by the shell, and use its output as the key file's contents."),
        .init(
            name: .identity, value: "PATH", completion: .file, help: "A file with age identities that open the vault."),
        .init(
            name: .vaultFingerprint, value: "HEX",
            help: "Open the vault by an age identity only if it has this fingerprint, and remember it."),
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

    /// nil unless `--timeout` is given. `vault unlock` has one of its own.
    var lockTimeout: Duration? {
        get throws(UsageError) {
            guard command != .unlock, let text = value(of: .timeout) else { return nil }
            // Not a number fails both comparisons.
            guard let seconds = Double(text), seconds >= 0, seconds <= 1_000_000 else { throw .badTimeout }
            return .seconds(seconds)
        }
    }

    /// Returns a time; nil if the option is not given.
    func duration(of option: OptionName) throws(UsageError) -> Duration? {
        guard let text = value(of: option) else { return nil }
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        let unit = text.last.flatMap { units[$0] }
        guard let number = Int(unit == nil ? text : String(text.dropLast())), number > 0, number <= 1_000_000 else {
            throw .badDuration(option)
        }
        return .seconds(number * (unit ?? 1))
    }

    /// From a time from now on, or a date; nil unless `--expires` is given.
    var expiry: Date? {
        get throws(UsageError) {
            guard let text = value(of: .expires) else { return nil }
            let now = Date()
            if let date = Timestamp.date(text) {
                guard date > now else { throw .pastDate(.expires) }
                return date
            }
            guard let time = try? duration(of: .expires) else { throw .badExpiry }
            return now.addingTimeInterval(Double(time.components.seconds))
        }
    }

    /// From a number of values and of days; nil unless `--keep` is given.
    var historyLimits: Keychain.HistoryLimits? {
        get throws(UsageError) {
            guard let text = value(of: .keep) else { return nil }
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
            guard numbers.count == 2, let versions = numbers[0], let days = numbers[1] else { throw .badHistory }
            return Keychain.HistoryLimits(versions: versions, days: days)
        }
    }

    /// Returns a whole number; nil if the option is not given.
    func number(of option: OptionName) throws(UsageError) -> Int? {
        guard let text = value(of: option) else { return nil }
        return try number(text, option.spelling)
    }

    /// Reads a whole number from 1 on. Errors name what it is.
    func number(_ text: String, _ what: String) throws(UsageError) -> Int {
        guard let number = Int(text), number > 0 else { throw .badNumber(what) }
        return number
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
    static let recursive = OptionDescription(
        name: .recursive, short: "r",
        help: "Also take what is below: NAME/..., and the fields NAME.... A NAME with a slash at its end is a folder.")

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
