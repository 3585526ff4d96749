/// The help texts, created from the table of commands alone.
enum HelpText {
    static func short() -> String {
        let column = TextLayout.column(of: CommandName.allCases.map(\.rawValue))
        let sections = CommandSection.allCases.filter { !$0.commands.isEmpty }.map { section in
            "\(section.rawValue):\n" + TextLayout.definitions(rows(section.commands), column: column)
        }
        return """
            vault keeps secrets in an encrypted file.

            Usage: vault [OPTIONS] COMMAND [ARGUMENTS]

            \(sections.joined(separator: "\n"))
            Run `vault help COMMAND` for one command, `vault help` for all options.

            """
    }

    static func full() -> String {
        short() + "\n" + section("Options for every command (before or after it)", options(GlobalOptions.all))
            + "\n" + section("Topics", HelpTopic.allCases.map { ("help " + $0.rawValue, $0.summary) })
    }

    static func group(_ group: String, _ commands: [CommandName]) -> String {
        section("Commands of vault \(group)", rows(commands)) + "\nRun `vault help \(group) COMMAND` for one of them.\n"
    }

    static func command(_ command: CommandDescription) -> String {
        var sections = ["vault \(command.name.rawValue): \(command.summary)\n"]
        sections += (["Usage: " + usage(command)] + command.details).map { $0 + "\n" }
        let argumentRows = command.arguments.map { ($0.name, $0.help) }
        let exitRows = command.exitCodes.map { (String($0.code.rawValue), $0.meaning) }
        let tables = [("Arguments", argumentRows), ("Options", options(command.options)), ("Exit codes", exitRows)]
        sections += tables.filter { !$1.isEmpty }.map(section)
        if !command.examples.isEmpty {
            sections.append("Examples:\n" + command.examples.map { "  \($0.line)\n      \($0.meaning)\n" }.joined())
        }
        sections.append("Run `vault help` for the options of every command.\n")
        return sections.joined(separator: "\n")
    }

    static func usage(_ command: CommandDescription) -> String {
        let arguments = command.arguments.map { argument in
            switch argument.count {
            case .one: " \(argument.name)"
            case .optional, .upToTwo: " [\(argument.name)]"
            case .oneOrMore: " \(argument.name)..."
            case .any: " [\(argument.name)...]"
            case .program: " [--] \(argument.name)..."
            }
        }
        return "vault \(command.name.rawValue) [OPTIONS]" + arguments.joined()
    }

    private static func rows(_ commands: [CommandName]) -> [(String, String)] {
        commands.map { ($0.rawValue, $0.description.summary) }
    }

    static func options(_ options: [OptionDescription]) -> [(String, String)] {
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
