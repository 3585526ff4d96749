/// An error in a command line. An argument that might be a secret is nil, so that the message cannot repeat it.
enum UsageError: Error, Equatable, CustomStringConvertible {
    case noCommand, badTimeout, badCost, badAttribute, doubledAttribute, valueInName, oneKeyOnly, badSplit, binaryOutput
    case badExpiry, oneLookOnly, tooManyCharacters, folderIntoItself, oneListOnly, badClasses, badSeparator, badSince
    case switchAlone, badHistory, keepForAllNames, oneChoiceOfKey, oneKeySource, descriptorHandedOn, oneUse
    case replaceOrSkip
    case pastDate(OptionName)
    case badTime(OptionName)
    case badLength(atLeast: Int, atMost: Int)
    case badWords(atMost: Int)
    case notWithWords(OptionName)
    case onlyWithWords(OptionName)
    case badKeyFile(String)
    case missingOption(OptionName, of: CommandName)
    case onlyWith(OptionName, String)
    case noOptionsHandedOn(by: String, to: HelperName)
    case badNumber(String)
    case badVariable(String)
    case doubledVariable(String)
    case badDuration(OptionName)
    case unknownSubcommand(String?, of: String, near: String?)
    case unknownCommand(String, near: String?)
    case unknownOption(String?, of: CommandName?, near: String?)
    case unknownTopic(String, near: String?)
    case missingValue(OptionName, placeholder: String)
    case badChoice(OptionName, choices: [String])
    case badArgument(String, choices: [String])
    case emptyPath(OptionName)
    case doubledOption(OptionName)
    case unexpectedValue(OptionName)
    case optionBeforeCommand(OptionName)
    case missingArgument(String, of: CommandName)
    case surplusArgument(String?, of: CommandName)
    case visibleInput(String)
    case notUnicode(Int)

    var description: String {
        switch self {
        case .noCommand: return "Missing command." + Self.seeList
        case .unknownCommand(let word, let near):
            return "Unknown command \"\(word)\"." + NearName.question(near) + Self.seeList
        case .unknownOption(let word, let command, let near):
            let option = word.map { "option \($0)" } ?? "such option"
            let problem = command.map { "`vault \($0.rawValue)` has no \(option)." } ?? "Unknown \(option)."
            return problem + NearName.question(near) + seeHelp(command)
        case .optionBeforeCommand(let option):
            return "Option \(option.spelling) belongs to a command. Put it after the command."
        case .missingValue(let option, let placeholder):
            return "Option \(option.spelling) needs a value. If the value begins with a dash, write "
                + "\(option.spelling)=\(placeholder)."
        case .replaceOrSkip: return "Use either --replace or --skip."
        case .emptyPath(let option): return "The path for \(option.spelling) is empty."
        case .doubledOption(let option): return "Option \(option.spelling) is given twice; it takes one value."
        case .unexpectedValue(let option): return "Option \(option.spelling) takes no value."
        case .badChoice(let option, let choices):
            return "Invalid value for \(option.spelling). Use one of: \(choices.joined(separator: ", "))."
        case .badArgument(let argument, let choices):
            return "Invalid \(argument). Use one of: \(choices.joined(separator: ", "))."
        case .badTimeout: return "Invalid value for --timeout. Use seconds from 0 to 1,000,000, such as 2.5."
        case .badCost: return "Invalid value for --argon2id. Use passes and MiB of memory, such as 3,64."
        case .oneKeyOnly:
            return "Specify one new key: --file, --passphrase (also with --file), --recipient or --command."
                + seeHelp(.keyAdd)
        case .oneKeySource: return "Use only one of --key-file, --key-fd and --key-command."
        case .badExpiry:
            return "Invalid value for --expires. Use a time such as 12h or 90d, or a date such as 2027-01-31."
        case .pastDate(let option): return "The date of \(option.spelling) is in the past."
        case .oneLookOnly: return "Use either --last or --fingerprint."
        case .tooManyCharacters: return "Option --last takes at most 8 characters."
        case .folderIntoItself: return "A folder cannot be moved or copied into itself."
        case .oneListOnly: return "Use only one of --layout, --long and --json."
        case .descriptorHandedOn:
            return "Option --key-fd cannot be saved in a configuration. Use --key-file or --key-command."
        case .onlyWith(let option, let other): return "Option \(option.spelling) needs \(other)."
        case .noOptionsHandedOn(let program, let helper):
            return "\(program) passes no options to \(helper.rawValue). Name the vault and its key in the "
                + "configuration, or in VAULT_FILE and VAULT_KEY_FILE."
        case .oneUse: return "Use only one of --copy, --print, --show and --name."
        case .badHistory: return "Invalid value for --keep. Use a number of values and of days, such as 10,90."
        case .badSince:
            return "Invalid value for --since. Use a UTC time such as 2026-01-31T09:05:00Z or 2026-01-31, or a span "
                + "such as 8h."
        case .switchAlone: return "Options --on and --off apply to all names. Use one of them alone."
        case .badKeyFile(let option):
            return "Invalid value for \(option). Use a key's number and a key file, such as 2=/media/usb/work.key."
        case .oneChoiceOfKey: return "For each key, use only one of --replace, --drop and --keep (or --file)."
        case .keepForAllNames: return "Option --keep applies to all names of the vault. Omit NAME."
        case .binaryOutput: return "Sealed output is not text. Use --output FILE, or a pipe."
        case .missingOption(let option, let command):
            return "`vault \(command.rawValue)` needs the option \(option.spelling)." + seeHelp(command)
        case .badSplit:
            return "Invalid numbers of shares. Write how many restore the key, and how many to create, such as "
                + "3 of 5."
        case .badVariable(let what):
            return "\(what) takes NAME=REFERENCE: the name of a variable (letters, digits and _) and of an entry."
        case .doubledVariable(let name): return "The variable \(name) is set twice."
        case .badNumber(let what): return "\(what) takes a whole number of at least 1."
        case .badDuration(let option):
            return "Invalid value for \(option.spelling). Use a time such as 90, 30s, 15m, 8h or 7d."
        case .badTime(let option):
            return "Invalid value for \(option.spelling). Use UTC, such as 2026-01-31T09:05:00Z, or seconds since 1970."
        case .badClasses:
            return "Invalid value for --classes. Use one or more of lower, upper, digits, symbols, separated by "
                + "commas."
        case .badLength(let least, let most):
            return "Invalid length. A password of these classes has from \(least) to \(Quantity.number(most)) "
                + "characters."
        case .badWords(let most): return "Invalid value for --words. Use a whole number from 1 to \(most)."
        case .badSeparator: return "Invalid value for --separator. Use 1 to 8 bytes without lower-case letters."
        case .notWithWords(let option): return "Option \(option.spelling) is for passwords. Omit it, or omit --words."
        case .onlyWithWords(let option): return "Option \(option.spelling) is for passphrases. Use it with --words."
        case .unknownSubcommand(let word, let group, let near):
            let problem =
                word.map { "`vault \(group)` has no command \"\($0)\"." } ?? "`vault \(group)` needs a command."
            return problem + NearName.question(near) + " See `vault help \(group)`."
        case .missingArgument(let argument, let command):
            return "Missing argument \(argument)." + seeHelp(command)
        case .surplusArgument(let word, let command):
            return word.map { "Unexpected argument \"\($0)\"." + seeHelp(command) } ?? Self.rightWays
        case .badAttribute: return "Invalid attribute. Write KEY=VALUE, with a key that is not empty."
        case .doubledAttribute: return "Two attributes have the same key."
        case .valueInName:
            return "NAME contains an equals sign and might include the value. Such a name is accepted only with a pipe "
                + "or with --file. \(Self.rightWays)"
        case .visibleInput(let source):
            return "\(source) is a terminal, which would show the value as you type it. Omit --file to type it "
                + "hidden, or pipe it in."
        case .notUnicode(let index): return "Argument \(index) is not valid UTF-8. Names and paths must be UTF-8."
        case .unknownTopic(let word, let near):
            return "No help for \"\(word)\"." + NearName.question(near) + Self.seeList
        }
    }

    private static let seeList = " Run `vault help` for the list."

    /// Advice for users who may have typed the value as an argument.
    private static let rightWays = """
        A value is never an argument: shell history and process lists would show it. Use one of:
          vault set NAME                  (asks for the value, hidden)
          a-program | vault set NAME
          vault set NAME --file PATH
        """

    private func seeHelp(_ command: CommandName?) -> String {
        " See `vault help\(command.map { " " + $0.rawValue } ?? "")`."
    }
}
