enum HelpCommand: Command {
    static let description = CommandDescription(
        name: .help,
        summary: "show help on the tool, a command or a topic",
        arguments: [
            ArgumentDescription(
                name: "COMMAND|TOPIC", count: .optional, completion: .command,
                help: "A command, or one of the topics: "
                    + HelpTopic.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        ],
        details: ["With --json, the descriptions of the commands as data, or a topic's text; see `vault help json`."]
    )

    static func run(_ session: Session) throws -> ExitCode {
        guard let word = session.invocation.arguments.first else {
            try session.print(json: HelpReport()) { fitted(HelpText.full()) }
            return .success
        }
        if let command = CommandName(rawValue: word) {
            try session.print(json: command.description) { fitted(HelpText.command(command.description)) }
        } else if let topic = HelpTopic(rawValue: word) {
            try session.print(json: TopicReport(topic: topic.rawValue, summary: topic.summary, text: topic.text)) {
                fitted(topic.text)
            }
        } else {
            let known = CommandName.allCases.map(\.rawValue) + HelpTopic.allCases.map(\.rawValue)
            throw UsageError.unknownTopic(word, near: NearName.nearest(to: word, among: known))
        }
        return .success
    }

    private static func fitted(_ text: String) -> String {
        TextLayout.fitted(text, to: StandardOutput.columns)
    }
}

struct HelpReport: Encodable {
    let commands = CommandName.allCases.map(\.description)
    let globalOptions = GlobalOptions.all
}

struct TopicReport: Encodable {
    let topic: String
    let summary: String
    let text: String
}

// MARK: - Version

enum VersionCommand: Command {
    private static let version = "0.1.0"

    static let description = CommandDescription(name: .version, summary: "show the version")

    static func run(_ session: Session) throws -> ExitCode {
        try session.print(json: VersionReport(version: version)) { "vault \(version)\n" }
        return .success
    }
}

struct VersionReport: Encodable {
    let version: String
}
