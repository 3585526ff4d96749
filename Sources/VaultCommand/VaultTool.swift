import CLinux
import Glibc

/// The tool from its arguments to its exit code.
@main
enum VaultTool {
    static func main() {
        exit(run().rawValue)
    }

    private static func run() -> ExitCode {
        let state = ProcessState.harden()
        var wantsJSON = false
        do {
            let words = try readWords()
            // The parser may fail before it reaches the option, and the error has to have the form that was asked for.
            wantsJSON = words.prefix { $0 != "--" }.contains(OptionName.json.spelling)
            let invocation = try CommandLineParser.parse(words)
            return try invocation.command.command.run(Session(invocation))
        } catch UsageError.noCommand where !wantsJSON {
            StandardError.write(TextLayout.fitted(HelpText.short(), to: StandardError.columns))
            return .usage
        } catch {
            if error is ClosedPipe { state.endByClosedPipe() }
            let error = CommandError(error)
            Notes.report(error, asJSON: wantsJSON)
            return error.exit
        }
    }

    /// Returns the words after the program's name. Swift's own list repairs what is not UTF-8, and a repaired path
    /// leads to another file.
    private static func readWords() throws(UsageError) -> [String] {
        var words: [String] = []
        for index in 1..<max(1, vault_argument_count()) {
            guard let pointer = vault_argument(index) else { break }
            guard let word = String(validatingCString: pointer) else { throw .notUnicode(Int(index)) }
            words.append(word)
        }
        return words
    }
}

/// Turns the words of a command line into an ``Invocation``, by the table of commands and without side effects.
struct CommandLineParser {
    private var rest: ArraySlice<String>
    private var description: CommandDescription?
    private var arguments: [String] = []
    private var options: [Invocation.Option] = []

    /// - Parameter words: the command line without the program's name.
    static func parse(_ words: [String]) throws(UsageError) -> Invocation {
        var parser = CommandLineParser(rest: words[...])
        try parser.readWords()
        return try parser.finish()
    }

    private init(rest: ArraySlice<String>) {
        self.rest = rest
    }

    private mutating func readWords() throws(UsageError) {
        var optionsAreOver = false
        while let word = rest.popFirst() {
            if optionsAreOver || !word.isOption {
                try take(argument: word)
            } else if word == "--" {
                optionsAreOver = true
            } else if word.utf8.starts(with: "--".utf8) {
                try take(longOption: word)
            } else {
                try take(shortOptions: word)
            }
        }
    }

    private mutating func take(argument word: String) throws(UsageError) {
        if description != nil {
            arguments.append(word)
        } else if let name = CommandName(rawValue: word) {
            description = name.description
        } else {
            throw .unknownCommand(word, near: NearName.nearest(to: word, among: CommandName.allCases.map(\.rawValue)))
        }
    }

    /// Help and version win over errors: a person who asks for help is not told what else is missing.
    private func finish() throws(UsageError) -> Invocation {
        let command = description?.name
        if options.contains(where: { $0.name == .help }) {
            return Invocation(command: .help, arguments: command.map { [$0.rawValue] } ?? [], options: options)
        }
        if options.contains(where: { $0.name == .version }) {
            return Invocation(command: .version, options: options)
        }
        guard let description else { throw .noCommand }
        try checkCount(description)
        return Invocation(command: description.name, arguments: arguments, options: options)
    }

    private func checkCount(_ description: CommandDescription) throws(UsageError) {
        let needed = description.arguments.filter { $0.count != .optional }
        if arguments.count < needed.count {
            throw .missingArgument(needed[arguments.count].name, of: description.name)
        }
        let isOpenEnded = description.arguments.last?.count == .oneOrMore
        if !isOpenEnded, arguments.count > description.arguments.count {
            let surplus = description.mayHoldSecrets ? nil : arguments[description.arguments.count]
            throw .surplusArgument(surplus, of: description.name)
        }
    }
}

// MARK: - Options

extension CommandLineParser {
    /// `--name`, `--name=VALUE` or `--name VALUE`.
    private mutating func take(longOption word: String) throws(UsageError) {
        let pair = Attributes.split(word)
        let (name, attached) = ((pair?.key ?? word).dropFirst(2), pair?.value)
        guard let option = allowed.first(where: { $0.name.rawValue == name }) else {
            throw unknown("--" + name)
        }
        if attached != nil, option.value == nil { throw .unexpectedValue(option.name) }
        try add(option, attached)
    }

    /// `-l`, `-lf`, `-aVALUE` or `-a VALUE`.
    private mutating func take(shortOptions word: String) throws(UsageError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = allowed.first(where: { $0.short == String(letter) }) else {
                throw unknown("-\(letter)")
            }
            if option.value != nil, !letters.isEmpty {
                return try add(option, String(letters))
            }
            try add(option, nil)
        }
    }

    private mutating func add(_ option: OptionDescription, _ attached: String?) throws(UsageError) {
        var value = attached
        if let placeholder = option.value, attached == nil {
            // A word that looks like an option is never a value: `--vault --json` is a slip, not a file name.
            guard let next = rest.first, !next.isOption else {
                throw .missingValue(option.name, placeholder: placeholder)
            }
            value = rest.removeFirst()
        }
        // An unset shell variable leaves an empty path.
        if value == "", option.completion == .file { throw .emptyPath(option.name) }
        if let value, !option.choices.isEmpty, !option.choices.contains(value) {
            throw .badChoice(option.name, choices: option.choices)
        }
        // It would be a guess which of two values was meant. A flag means the same twice.
        if value != nil, !option.isRepeatable, options.contains(where: { $0.name == option.name }) {
            throw .doubledOption(option.name)
        }
        options.append(Invocation.Option(name: option.name, value: value))
    }

    /// The options that are valid here: global ones and the command's own.
    private var allowed: [OptionDescription] {
        (description?.options ?? []) + GlobalOptions.all
    }

    private func unknown(_ typed: String) -> UsageError {
        let near = NearName.nearest(to: typed, among: allowed.map(\.name.spelling))
        guard let description else {
            if let option = OptionName.allCases.first(where: { $0.spelling == typed }) {
                return .optionBeforeCommand(option)
            }
            return .unknownOption(typed, of: nil, near: near)
        }
        return .unknownOption(description.mayHoldSecrets ? nil : typed, of: description.name, near: near)
    }
}

extension String {
    /// Whether the word begins as options do. A single dash is an argument: by custom, standard input.
    fileprivate var isOption: Bool {
        utf8.count > 1 && utf8.first == UInt8(ascii: "-")
    }
}
