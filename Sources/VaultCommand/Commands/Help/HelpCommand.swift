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
        details: ["With --json, prints the commands' descriptions as data, or a topic's text; see `vault help json`."])

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
            "options": command.options, "details": command.details, "examples": command.examples,
            "exit_codes": command.exitCodes,
        ]
    }
}

enum VersionCommand: Command {
    static let description = CommandDescription(
        name: .version, section: .help, summary: "show the version",
        details: [
            """
            With --json, also lists the Debian packages that are linked into the executable, with their revisions. \
            Only a new build of the executable brings their fixes. A build without that information writes null.
            """
        ])
    static var report: JSONObject { ["version": ToolVersion.number, "libraries": LinkedLibrary.all?.map(\.report)] }

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try invocation.finish(json: report) { "vault \(ToolVersion.number)\n" }
    }
}
