/// Help text, created from the table of commands alone.
enum HelpText {
    static func short() -> String {
        """
        vault keeps secrets in an encrypted file.

        Usage: vault [OPTIONS] COMMAND [ARGUMENTS]

        Commands:
        \(TextLayout.definitions(CommandName.allCases.map { ($0.rawValue, $0.description.summary) }))
        Run `vault help COMMAND` for one command, `vault help` for all options.

        """
    }

    static func full() -> String {
        short() + "\n" + section("Options of every command (before or after it)", options(GlobalOptions.all))
            + "\n" + section("Topics", HelpTopic.allCases.map { ("help " + $0.rawValue, $0.summary) })
    }

    static func group(_ group: String, _ commands: [CommandName]) -> String {
        "Commands of vault \(group):\n" + TextLayout.definitions(commands.map { ($0.rawValue, $0.description.summary) })
            + "\n`vault help \(group) COMMAND` tells more.\n"
    }

    static func command(_ command: CommandDescription) -> String {
        let arguments = command.arguments.map { argument in
            switch argument.count {
            case .one: " \(argument.name)"
            case .optional, .upToTwo: " [\(argument.name)]"
            case .oneOrMore: " \(argument.name)..."
            case .any: " [\(argument.name)...]"
            case .program: " [--] \(argument.name)..."
            }
        }
        let usage = "Usage: vault \(command.name.rawValue) [OPTIONS]" + arguments.joined()
        var sections = ["vault \(command.name.rawValue): \(command.summary)\n"]
        sections += ([usage] + command.details).map { TextLayout.wrapped($0, indent: 0) }
        let argumentRows = command.arguments.map { ($0.name, $0.help) }
        let exitRows = command.exitCodes.map { (String($0.code.rawValue), $0.meaning) }
        let tables = [("Arguments", argumentRows), ("Options", options(command.options)), ("Exit codes", exitRows)]
        sections += tables.filter { !$1.isEmpty }.map(section)
        if !command.examples.isEmpty {
            sections.append("Examples:\n" + command.examples.map { "  \($0.line)\n      \($0.meaning)\n" }.joined())
        }
        sections.append("`vault help` lists the options that every command takes.\n")
        return sections.joined(separator: "\n")
    }

    private static func options(_ options: [OptionDescription]) -> [(String, String)] {
        options.map { option in
            let short = option.short.map { "-\($0), " } ?? ""
            let value = option.value.map { "=\($0)" } ?? ""
            let repetition = option.isRepeatable ? " May be repeated." : ""
            return (short + option.name.spelling + value, option.help + repetition)
        }
    }

    private static func section(_ title: String, _ rows: [(String, String)]) -> String {
        title + ":\n" + TextLayout.definitions(rows)
    }
}
