/// What can be wrong with a command line. Words that may hold a secret are nil: they are never repeated.
enum UsageError: Error, Equatable {
    case noCommand
    case unknownCommand(String, near: String?)
    case unknownOption(String?, of: CommandName?, near: String?)
    case optionBeforeCommand(OptionName)
    case missingValue(OptionName, placeholder: String)
    case emptyPath(OptionName)
    case doubledOption(OptionName)
    case unexpectedValue(OptionName)
    case badChoice(OptionName, choices: [String])
    case badTimeout
    case badCost
    case missingArgument(String, of: CommandName)
    /// nil stands for a word that may be a value.
    case surplusArgument(String?, of: CommandName)
    case badAttribute
    case doubledAttribute
    case valueInName
    case visibleInput(String)
    case notUnicode(Int)
    case unknownTopic(String, near: String?)
}

extension UsageError: CustomStringConvertible {
    var description: String {
        switch self {
        case .noCommand:
            return "Name a command; `vault help` lists them."
        case .unknownCommand(let word, let near):
            return "There is no command \"\(word)\"." + question(near) + " `vault help` lists the commands."
        case .unknownOption(let word, let command, let near):
            let option = word.map { "option \($0)" } ?? "such option"
            let owner = command.map { " of `vault \($0.rawValue)`" } ?? ""
            return "There is no \(option)\(owner)." + question(near) + seeHelp(command)
        case .optionBeforeCommand(let option):
            return "The option \(option.spelling) belongs to a command and stands after its name."
        case .missingValue(let option, let placeholder):
            return "The option \(option.spelling) needs a value. One that begins with a dash is written "
                + "\(option.spelling)=\(placeholder)."
        case .emptyPath(let option):
            return "The option \(option.spelling) needs a path, but got an empty one."
        case .doubledOption(let option):
            return "The option \(option.spelling) is given twice; it takes one value."
        case .unexpectedValue(let option):
            return "The option \(option.spelling) takes no value."
        case .badChoice(let option, let choices):
            return "The option \(option.spelling) takes one of: \(choices.joined(separator: ", "))."
        case .badTimeout:
            return "The option --timeout takes seconds, from 0 to 1000000, such as 2.5."
        case .badCost:
            return "The option --argon2id takes passes and mebibytes of memory, such as 3,64."
        case .missingArgument(let argument, let command):
            return "`vault \(command.rawValue)` needs a \(argument)." + seeHelp(command)
        case .surplusArgument(let word, let command):
            return word.map { "`vault \(command.rawValue)` takes no further argument \"\($0)\".\(seeHelp(command))" }
                ?? Self.rightWays
        case .badAttribute:
            return "An attribute is written KEY=VALUE, and its key is not empty."
        case .doubledAttribute:
            return "An attribute's key is given twice."
        case .valueInName:
            return "A NAME with an equals sign is accepted from a pipe or with --file only: it looks as if it held the "
                + "value. \(Self.rightWays)"
        case .visibleInput(let source):
            return "\(source) is a terminal, which would show the value as it is typed. Leave --file out to type it "
                + "hidden, or pipe it in."
        case .notUnicode(let place):
            return "Argument \(place) is not valid UTF-8. Names and paths are UTF-8."
        case .unknownTopic(let word, let near):
            return "There is no help for \"\(word)\"." + question(near) + " `vault help` lists what there is."
        }
    }

    /// What is said to somebody who may have typed the value as an argument.
    private static let rightWays = """
        A value is never an argument: the shell's history and the list of processes would show it. Use one of:
          vault set NAME                  (asks for the value and does not show it)
          a-program | vault set NAME
          vault set NAME --file PATH
        """

    private func question(_ near: String?) -> String {
        near.map { " Did you mean \"\($0)\"?" } ?? ""
    }

    private func seeHelp(_ command: CommandName?) -> String {
        command.map { " See `vault help \($0.rawValue)`." } ?? " See `vault help`."
    }
}
