import Glibc

enum HelpCommand: Command {
    static let description = CommandDescription(
        name: .help, section: .help, summary: "show help for the tool, a command or a topic",
        arguments: [
            .init(
                name: "COMMAND|TOPIC", count: .upToTwo, completion: .command,
                help: "A command, or one of the topics: "
                    + HelpTopic.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        ],
        details: "With --json, prints the commands' descriptions as data, or a topic's text; see `vault help json`.")

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let word = invocation.arguments.joined(separator: " ")
        let (json, text): (JSONObject, String)
        if invocation.arguments.isEmpty {
            json = report
            text = HelpText.full()
        } else if let command = CommandName(rawValue: word)?.description {
            json = report(command)
            text = HelpText.command(command)
        } else if CommandName.groups.contains(word) {
            let commands = CommandName.inGroup(word)
            json = ["commands": commands.map { report($0.description) }]
            text = HelpText.group(word, commands)
        } else if let topic = HelpTopic(rawValue: word) {
            json = ["topic": topic.rawValue, "summary": topic.summary, "text": TextLayout.fitted(topic.text)]
            text = topic.text
        } else {
            let known = CommandName.allCases.map(\.rawValue) + CommandName.groups + HelpTopic.allCases.map(\.rawValue)
            throw UsageError.unknownTopic(word, near: NearName.nearest(to: word, among: known))
        }
        return try invocation.finish(json: json) { TextLayout.fitted(text, to: terminalWidth(STDOUT_FILENO)) }
    }

    static var report: JSONObject {
        ["commands": CommandName.allCases.map { report($0.description) }, "global_options": GlobalOptions.all]
    }

    private static func report(_ command: CommandDescription) -> JSONObject {
        [
            "name": command.name, "summary": command.summary, "arguments": command.arguments,
            "options": command.options, "details": command.paragraphs, "examples": command.examples,
            "exit_codes": command.exitCodes,
        ]
    }
}

enum VersionCommand: Command {
    static let description = CommandDescription(
        name: .version, section: .help, summary: "show the version",
        details: """
            With --json, also lists the Debian packages that are linked into the executable, with their revisions. \
            Their fixes require a new build of the executable. A build without this information writes null.
            """)
    static var report: JSONObject { ["version": ToolVersion.number, "libraries": LinkedLibrary.all?.map(\.report)] }

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try invocation.finish(json: report) { "vault \(ToolVersion.number)\n" }
    }
}

/// The help texts, generated from the command table.
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
        sections += (["Usage: " + usage(command)] + command.paragraphs).map { $0 + "\n" }
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
