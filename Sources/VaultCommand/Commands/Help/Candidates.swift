import Vault

/// The possible completions of a command line, derived from the table of commands.
struct Candidates {
    enum Kind: String, Encodable { case words, files }

    struct Word: Encodable {
        let word: String
        var meaning: String?
    }

    var kind = Kind.words
    var words: [Word] = []

    /// - Parameters:
    ///   - words: the words before the cursor, without the program's name.
    ///   - current: the typed part of the word at the cursor.
    init(after words: [String], current: String) {
        var parser = CommandLineParser(words)
        do {
            try parser.readWords()
        } catch .missingValue(let name, placeholder: _) {
            if let option = parser.allowed.first(where: { $0.name == name }) {
                offer(option.completion, option.choices, current, parser)
            }
            return
        } catch { return }
        // Words after another program's name belong to that program, so no options of `vault` are offered.
        let isOfProgram = parser.description?.takesProgram == true && !parser.arguments.isEmpty
        if current.isOption, !words.contains("--"), !isOfProgram {
            offerOptions(current, parser)
        } else if let description = parser.description {
            offerArgument(of: description, current, parser)
        } else {
            add(Self.commands(in: parser.group), current)
        }
    }

    private mutating func add(_ candidates: [Word], _ current: String) {
        words += candidates.filter { $0.word.utf8.starts(with: current.utf8) }
    }

    private mutating func offerOptions(_ current: String, _ parser: CommandLineParser) {
        let pair = Attributes.split(current)
        if let pair, let option = parser.allowed.first(where: { $0.name.spelling == pair.key && $0.value != nil }) {
            offer(option.completion, option.choices, pair.value, parser)
            words = words.map { Word(word: "\(pair.key)=\($0.word)", meaning: $0.meaning) }
        } else {
            let fresh = parser.allowed.filter { $0.isRepeatable || parser.options[$0.name] == nil }
            add(fresh.map { Word(word: $0.name.spelling, meaning: $0.help) }, current)
        }
    }

    private mutating func offerArgument(
        of description: CommandDescription, _ current: String, _ parser: CommandLineParser
    ) {
        let arguments = description.arguments
        let index = parser.arguments.count
        guard let last = arguments.last,
            index < arguments.count || [.oneOrMore, .any, .program, .upToTwo].contains(last.count)
        else { return }
        let argument = index < arguments.count ? arguments[index] : last
        if argument.completion == .command {
            let isTopic = parser.arguments.isEmpty
            add(Self.commands(in: parser.arguments.first), current)
            if isTopic { add(HelpTopic.allCases.map { Word(word: $0.rawValue, meaning: $0.summary) }, current) }
        } else {
            offer(argument.completion, argument.choices, current, parser)
        }
    }

    private mutating func offer(
        _ completion: Completion, _ choices: [String], _ current: String, _ parser: CommandLineParser
    ) {
        add(choices.map { Word(word: $0) }, current)
        switch completion {
        case .file: kind = .files
        case .secretName: words += Self.names(current, parser).map { Word(word: $0) }
        case .variable:
            guard let (name, reference) = Attributes.split(current) else { return }
            words += Self.names(reference, parser).map { Word(word: "\(name)=\($0)") }
        case .command, .none: break
        }
    }

    private static func names(_ prefix: String, _ parser: CommandLineParser) -> [String] {
        (try? Invocation(command: .list, options: parser.options).names(beginningWith: prefix)) ?? []
    }

    /// Returns the first words of all commands or, for a group, the second words of the group's commands.
    private static func commands(in group: String?) -> [Word] {
        if let group {
            return CommandName.inGroup(group).map { command in
                Word(word: String(command.rawValue.dropFirst(group.count + 1)), meaning: command.description.summary)
            }
        }
        let groups = CommandName.groups.map { group in
            Word(word: group, meaning: commands(in: group).map(\.word).joined(separator: ", "))
        }
        let single = CommandName.allCases.filter { !$0.rawValue.contains(" ") }
        return single.map { Word(word: $0.rawValue, meaning: $0.description.summary) } + groups
    }
}

extension Invocation {
    /// Returns the entry names that begin with `prefix`, each truncated after the first slash that follows the prefix.
    /// Never prompts. Throws if the vault has been rolled back, has diverged or has been exchanged.
    fileprivate func names(beginningWith prefix: String) throws -> [String] {
        let naming: Set<OptionName> = [.vault, .keyFile, .keyCommand, .identity]
        // During completion, the shell has not yet expanded a ~ in the paths that these options name.
        let home = environmentVariable("HOME")
        let named = options.filter { naming.contains($0.key) }.mapValues { values in
            values.map { value in home.flatMap { value.hasPrefix("~/") ? $0 + value.dropFirst() : nil } ?? value }
        }
        let opening = Invocation(command: command, options: named, changesNothing: true)
        var unattended = try opening.vaultOptions()
        unattended.asksNobody = true
        unattended.lockTimeout = .zero
        unattended.onWaiting = nil
        let keychain = try Keychain(at: opening.location(), options: unattended, failures: FailureLog { _, _ in })
        var listing = try keychain.names(prefix: prefix)
        var names: [String] = []
        while let name = try listing.next() {
            let slash = name.utf8.dropFirst(prefix.utf8.count).firstIndex(of: UInt8(ascii: "/"))
            let piece = slash.map { String(name[...$0]) } ?? name
            if piece != names.last { names.append(piece) }
        }
        return names
    }
}
