/// The table of commands. The descriptions are static properties, so a run initializes only those that it uses.
extension CommandName {
    var command: any Command.Type {
        switch self {
        case .initialize: InitCommand.self
        case .set: SetCommand.self
        case .get: GetCommand.self
        case .show: ShowCommand.self
        case .attribute: AttributeCommand.self
        case .otp: OTPCommand.self
        case .generate: GenerateCommand.self
        case .edit: EditCommand.self
        case .clipboard: ClipboardCommand.self
        case .pick: PickCommand.self
        case .list: ListCommand.self
        case .find: FindCommand.self
        case .exists: ExistsCommand.self
        case .remove: RemoveCommand.self
        case .move: MoveCommand.self
        case .copy: CopyCommand.self
        case .history: HistoryCommand.self
        case .restore: RestoreCommand.self
        case .undo: UndoCommand.self
        case .log: LogCommand.self
        case .unlock: UnlockCommand.self
        case .lock: LockCommand.self
        case .keyList: KeyListCommand.self
        case .keyAdd: KeyAddCommand.self
        case .keyRemove: KeyRemoveCommand.self
        case .keyCheck: KeyCheckCommand.self
        case .keyReplace: KeyReplaceCommand.self
        case .keyRotate: KeyRotateCommand.self
        case .keyShow: KeyShowCommand.self
        case .keySplit: KeySplitCommand.self
        case .keyJoin: KeyJoinCommand.self
        case .memberList: MemberListCommand.self
        case .memberAdd: MemberAddCommand.self
        case .memberRemove: MemberRemoveCommand.self
        case .memberDevice: MemberDeviceCommand.self
        case .drop: DropCommand.self
        case .collect: CollectCommand.self
        case .run: RunCommand.self
        case .env: EnvCommand.self
        case .inject: InjectCommand.self
        case .importEntries: ImportCommand.self
        case .export: ExportCommand.self
        case .backup: BackupCommand.self
        case .clone: CloneCommand.self
        case .merge: MergeCommand.self
        case .setupGitMerge: SetupGitMergeCommand.self
        case .setupGit: SetupGitCommand.self
        case .setupDocker: SetupDockerCommand.self
        case .setupAWS: SetupAWSCommand.self
        case .setupKube: SetupKubeCommand.self
        case .setupSSH: SetupSSHCommand.self
        case .setupDirenv: SetupDirenvCommand.self
        case .gitCredential: GitCredentialCommand.self
        case .dockerCredential: DockerCredentialCommand.self
        case .awsCredential: AWSCredentialCommand.self
        case .kubeCredential: KubeCredentialCommand.self
        case .askpass: AskpassCommand.self
        case .sshAdd: SSHAddCommand.self
        case .systemdCredential: SystemdCredentialCommand.self
        case .preferenceGet: PreferenceGetCommand.self
        case .preferenceSet: PreferenceSetCommand.self
        case .preferenceList: PreferenceListCommand.self
        case .preferenceRemove: PreferenceRemoveCommand.self
        case .info: InfoCommand.self
        case .doctor: DoctorCommand.self
        case .verify: VerifyCommand.self
        case .compact: CompactCommand.self
        case .salvage: SalvageCommand.self
        case .help: HelpCommand.self
        case .completions: CompletionsCommand.self
        case .man: ManCommand.self
        case .version: VersionCommand.self
        }
    }

    var description: CommandDescription { command.description }
}

extension CommandSection {
    var commands: [CommandName] { CommandName.allCases.filter { $0.description.section == self } }
}

/// The parser of command lines. It reads the table of commands and has no side effects.
struct CommandLineParser {
    private let count: Int
    private var rest: ArraySlice<String?>
    private(set) var description: CommandDescription?
    /// The first word of a two-word command name, such as `key`.
    private(set) var group: String?
    private(set) var arguments: [String] = []
    private(set) var options: [OptionName: [String]] = [:]

    /// - Parameter words: the words of the command line. A word that is not UTF-8 is nil.
    init(_ words: [String?]) {
        count = words.count
        rest = words[...]
    }

    static func parse(_ words: [String]) throws(UsageError) -> Invocation {
        var parser = CommandLineParser(words)
        return try parser.parse()
    }

    mutating func parse() throws(UsageError) -> Invocation {
        try readWords()
        let invocation = try finish()
        // Reports an invalid --timeout before any input is read or any prompt is shown.
        _ = try invocation.lockTimeout
        return invocation
    }

    /// Whether the command line contains `--json`, even after a word that the parser rejected. The error for the
    /// rejected word must then be JSON too.
    var wantsJSON: Bool { options[.json] != nil || rest.prefix { $0 != "--" }.contains(OptionName.json.spelling) }

    mutating func readWords() throws(UsageError) {
        while let word = try nextWord() {
            if !word.isOption {
                try take(argument: word)
            } else if word == "--" {
                try takeArguments()
            } else if word.utf8.starts(with: "--".utf8) {
                try take(longOption: word)
            } else {
                try take(shortOptions: word)
            }
        }
    }

    /// Reads all words after `--` as arguments, never as options.
    private mutating func takeArguments() throws(UsageError) {
        if description?.takesProgram == true { return takeProgram() }
        while let word = try nextWord() { try take(argument: word) }
    }

    /// Reads all remaining words as another program's command line. A word that is not UTF-8 becomes empty here,
    /// because `vault run` passes on the original bytes.
    private mutating func takeProgram() {
        arguments += rest.map { $0 ?? "" }
        rest = []
    }

    private mutating func nextWord() throws(UsageError) -> String? {
        guard let word = rest.popFirst() else { return nil }
        guard let word else { throw .notUnicode(count - rest.count) }
        return word
    }

    private mutating func take(argument word: String) throws(UsageError) {
        if let description {
            arguments.append(word)
            if description.takesProgram { takeProgram() }
        } else if let group {
            guard let name = CommandName(rawValue: "\(group) \(word)") else {
                let known = CommandName.inGroup(group).map { String($0.rawValue.dropFirst(group.count + 1)) }
                throw .unknownSubcommand(word, of: group, near: NearName.nearest(to: word, among: known))
            }
            description = name.description
        } else if CommandName.groups.contains(word) {
            group = word
        } else if let name = CommandName(rawValue: word) {
            description = name.description
        } else {
            let near = NearName.nearest(to: word, among: CommandName.allCases.map(\.rawValue))
            throw .unknownCommand(word, near: ForeignWord.command(for: word)?.rawValue ?? near)
        }
    }

    /// Creates the invocation. `--help` and `--version` take precedence over errors.
    private func finish() throws(UsageError) -> Invocation {
        if options[.help] != nil {
            let word = description?.name.rawValue ?? group
            return Invocation(command: .help, arguments: word.map { [$0] } ?? [], options: options)
        }
        // The --version option of a single command takes a value, whereas the global option takes none.
        if options[.version]?.isEmpty == true { return Invocation(command: .version, options: options) }
        if description == nil, let group { throw .unknownSubcommand(nil, of: group, near: nil) }
        guard let description else { throw .noCommand }
        let expected = description.arguments
        let needed = expected.filter { ![.optional, .upToTwo, .any].contains($0.count) }
        if arguments.count < needed.count { throw .missingArgument(needed[arguments.count].name, of: description.name) }
        let most =
            switch expected.last?.count {
            case .oneOrMore, .any, .program: Int.max
            case .upToTwo: 2
            case .one, .optional, nil: expected.count
            }
        if arguments.count > most {
            throw .surplusArgument(description.mayHoldSecrets ? nil : arguments[most], of: description.name)
        }
        for (argument, word) in zip(expected, arguments) where !argument.choices.isEmpty {
            guard argument.choices.contains(word) else { throw .badArgument(argument.name, choices: argument.choices) }
        }
        return Invocation(
            command: description.name, arguments: arguments, options: options,
            changesNothing: description.changesNothing)
    }

    /// Parses `--name`, `--name=VALUE` or `--name VALUE`.
    private mutating func take(longOption word: String) throws(UsageError) {
        let pair = Attributes.split(word)
        let name = pair?.key ?? word
        guard let option = allowed.first(where: { $0.name.spelling == name }) else { throw unknown(name) }
        if pair != nil, option.value == nil { throw .unexpectedValue(option.name) }
        try add(option, pair?.value)
    }

    /// Parses `-l`, `-lf`, `-aVALUE` or `-a VALUE`.
    private mutating func take(shortOptions word: String) throws(UsageError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = allowed.first(where: { $0.short == String(letter) }) else { throw unknown("-\(letter)") }
            if option.value != nil, !letters.isEmpty { return try add(option, String(letters)) }
            try add(option, nil)
        }
    }

    private mutating func add(_ option: OptionDescription, _ attached: String?) throws(UsageError) {
        var value = attached
        if let placeholder = option.value, attached == nil {
            // A word that looks like an option is never a value. `--vault --json` is a mistake, not a file name.
            if case .some(.some(let next)) = rest.first, next.isOption {
                throw .missingValue(option.name, placeholder: placeholder)
            }
            guard let next = try nextWord() else { throw .missingValue(option.name, placeholder: placeholder) }
            value = next
        }
        // An empty path is rejected, because it usually results from an unset shell variable.
        if value == "", option.completion == .file { throw .emptyPath(option.name) }
        if let value, !option.choices.isEmpty, !option.choices.contains(value) {
            throw .badChoice(option.name, choices: option.choices)
        }
        // Two values for one option are rejected, because it is unclear which is meant. A repeated flag is harmless.
        if value != nil, !option.isRepeatable, options[option.name] != nil { throw .doubledOption(option.name) }
        options[option.name, default: []] += value.map { [$0] } ?? []
    }

    var allowed: [OptionDescription] { (description?.options ?? []) + GlobalOptions.all }

    private func unknown(_ typed: String) -> UsageError {
        if description == nil, let option = OptionName.allCases.first(where: { $0.spelling == typed }) {
            return .optionBeforeCommand(option)
        }
        let near = NearName.nearest(to: typed, among: allowed.map(\.name.spelling))
        return .unknownOption(description?.mayHoldSecrets == true ? nil : typed, of: description?.name, near: near)
    }
}
