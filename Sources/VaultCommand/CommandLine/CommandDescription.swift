import Vault

/// The commands, in the order in which help lists them.
enum CommandName: String, CaseIterable, Sendable, Encodable {
    case set, get, show
    case attribute = "attr"
    case edit
    case clipboard = "copy"
    case pick, otp, generate
    case list = "ls"
    case find, exists
    case remove = "rm"
    case move = "mv"
    case copy = "cp"
    case history, restore, undo
    case run, env, inject
    case importEntries = "import"
    case export
    case setupGit = "setup git"
    case setupDocker = "setup docker"
    case setupAWS = "setup aws"
    case setupKube = "setup kube"
    case setupSSH = "setup ssh"
    case setupDirenv = "setup direnv"
    case gitCredential = "git-credential"
    case dockerCredential = "docker-credential"
    case awsCredential = "aws-credential"
    case kubeCredential = "kube-credential"
    case askpass
    case sshAdd = "ssh-add"
    case systemdCredential = "systemd-credential"
    case preferenceGet = "prefs get"
    case preferenceSet = "prefs set"
    case preferenceList = "prefs ls"
    case preferenceRemove = "prefs rm"
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
    case memberList = "member ls"
    case memberAdd = "member add"
    case memberRemove = "member rm"
    case memberDevice = "member device"
    case drop, collect
    case backup, clone, merge
    case setupGitMerge = "setup git-merge"
    case initialize = "init"
    case info, doctor, log, verify, compact, salvage
    case help, completions, man, version
}

extension CommandName {
    /// The first words of two-word command names.
    static let groups = ["key", "member", "setup", "prefs"]

    static func inGroup(_ group: String) -> [CommandName] { allCases.filter { $0.rawValue.hasPrefix(group + " ") } }
}

/// The headings under which help lists the commands, in order.
enum CommandSection: String, CaseIterable, Sendable, Encodable {
    case values = "Values"
    case earlierValues = "Earlier values"
    case otherPrograms = "Values for other programs"
    case importAndExport = "Import and export"
    case helpers = "Helpers for other tools"
    case preferences = "Preferences"
    case keys = "Keys"
    case members = "Members"
    case fromOthers = "Values from others"
    case copies = "Copies"
    case vault = "The vault"
    case help = "Help"
}

enum ToolVersion {
    static let number = "0.1.0"
    static let date = "2026-11-25"
}

struct CommandDescription: Sendable {
    let name: CommandName
    let section: CommandSection
    /// Whether the command never writes to the vault, whatever its arguments.
    var changesNothing = false
    /// A phrase that summarizes the command in lists, without a full stop.
    let summary: String
    var arguments: [ArgumentDescription] = []
    var options: [OptionDescription] = []
    /// The help text below the usage line. A blank line separates paragraphs.
    var details = ""
    var examples: [ExampleDescription] = []
    var exitCodes: [ExitCodeDescription] = []
    /// Whether users might type a secret as an argument by mistake. If so, errors do not repeat any argument.
    var mayHoldSecrets = false
    /// The exit code of all failures except `notExecutable` and `notInstalled`; nil if each keeps its own exit code.
    var failure: ExitCode?

    var paragraphs: [String] { details.split(separator: "\n\n").map(String.init) }

    /// Whether the arguments end with another program's command line, which may contain that program's options.
    var takesProgram: Bool { arguments.last?.count == .program }
}

struct ExampleDescription: Sendable, Encodable {
    let line: String
    let meaning: String

    init(_ line: String, _ meaning: String) {
        self.line = line
        self.meaning = meaning
    }
}

struct ExitCodeDescription: Sendable, Encodable {
    let code: ExitCode
    let meaning: String

    init(_ code: ExitCode, _ meaning: String) {
        self.code = code
        self.meaning = meaning
    }
}

struct ArgumentDescription: Sendable, Encodable {
    enum Count: String, Sendable, Encodable {
        case one, optional, oneOrMore, any
        /// At most two words, which together name a command, such as `key add`.
        case upToTwo
        /// Another program and its arguments: the rest of the command line.
        case program
    }

    let name: String
    var count: Count = .one
    /// The words that this argument accepts; empty if it accepts any word.
    var choices: [String] = []
    var completion: Completion = .none
    let help: String
}

enum Completion: String, Sendable, Encodable {
    case none, file, secretName, command
    /// An argument of the form NAME=REFERENCE. Shells complete only the reference.
    case variable
}

/// Every option of the tool by its long name. An option's meaning may differ between commands, but not its spelling.
enum OptionName: String, CaseIterable, Sendable, Encodable {
    // These options are valid for every command.
    case vault, json, timeout, offline, help, version, identity
    case keyFile = "key-file"
    case keyFD = "key-fd"
    case keyCommand = "key-command"
    case vaultFingerprint = "vault-fingerprint"
    case acceptRolledBack = "accept-rolled-back"
    case acceptDiverged = "accept-diverged"
    case acceptExchanged = "accept-exchanged"
    case acceptSharedKey = "accept-shared-key"
    case acceptOlder = "accept-older"

    // Each of these options is valid only for some commands.
    case argon2id, at, attribute, changes, classes, command, confirm, copy, detached, device, drop, env, exact, expires
    case expiring, file, fingerprint, force, format, head, `in`, keep, key, label, last, layout, length, lifetime, local
    case long, name, newline, next, off, on, out, output, passphrase, plaintext, prefix, print, profile, purge
    case recipient, recursive, redact, replace, rotate, separator, session, show, since, skip, sql, stdin, suite, to
    case type, undo, user, with, words
    case ifAbsent = "if-absent"
    case allowEmpty = "allow-empty"
    case noQR = "no-qr"
    case fromFormerKey = "from-former-key"
    case allFromFormerKey = "all-from-former-key"
    case gitPath = "git-path"
    case dryRun = "dry-run"
    case noAmbiguous = "no-ambiguous"
    case envFile = "env-file"
    case clearAfter = "clear-after"

    /// The option as users type it, such as `--key-file`.
    var spelling: String { "--" + rawValue }
}

struct OptionDescription: Sendable, Encodable {
    let name: OptionName
    /// The ASCII letter of the short option, such as `a` for `-a`; nil if there is none.
    var short: String?
    /// The placeholder for the option's value in help; nil if the option has no value.
    var value: String?
    /// The values that this option accepts; empty if it accepts any value.
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
            help: "Run this shell command, and use its output as the key file's contents."),
        .init(
            name: .identity, value: "PATH", completion: .file, help: "A file with age identities that open the vault."),
        .init(
            name: .vaultFingerprint, value: "HEX",
            help: "Open the vault only if it has this fingerprint, and remember the fingerprint."),
        .init(name: .json, help: "Write results and errors as JSON; see `vault help json`."),
        .init(
            name: .timeout, value: "SECONDS",
            help: "The time to wait for another writer (default: 10). With 0, do not wait."),
        .init(
            name: .offline,
            help: "Use this machine's copy of a vault in a database, without the server, and report the copy's age."),
        .init(name: .acceptRolledBack, help: "Accept, once, a vault file older than the one this machine remembers."),
        .init(
            name: .acceptDiverged,
            help: "Accept, once, a vault file whose history differs from the one this machine remembers."),
        .init(name: .acceptExchanged, help: "Accept, once, a different vault from the one this machine remembers."),
        .init(
            name: .acceptSharedKey,
            help: "Accept a key file that root owns and others can read; see `vault help locations`."),
        .init(name: .help, short: "h", help: "Show help."),
        .init(name: .version, help: "Show the version."),
    ]
}

extension OptionDescription {
    static let recursive = OptionDescription(
        name: .recursive, short: "r",
        help: "Include the names below NAME/ and the fields NAME.FIELD. A NAME that ends with a slash is a folder.")

    static let detached = OptionDescription(
        name: .detached,
        help: "Treat the file as a copy from elsewhere, and do not compare it with what this machine remembers.")

    static let stretchCost = OptionDescription(
        name: .argon2id, value: "PASSES,MIB",
        help: "Argon2id passes and memory. They slow down guessing a key file that was not generated.")
}
