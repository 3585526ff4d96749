/// A row of the table: all that the parser, the help, the completions and the manual know of a command.
struct CommandDescription: Sendable {
    let name: CommandName
    /// Half a sentence, without a full stop.
    let summary: String
    let arguments: [ArgumentDescription]
    /// The command's own options; ``GlobalOptions`` come on top.
    let options: [OptionDescription]
    /// What is said to somebody who gives more arguments than there are, instead of the general sentence.
    let surplusHelp: String?
    /// Whether a person may have typed a secret among the words by mistake: then no error repeats a word.
    let mayHoldSecrets: Bool
    private let makeDetails: @Sendable () -> [String]
    private let makeExamples: @Sendable () -> [Example]
    private let makeExitCodes: @Sendable () -> [ExitNote]

    /// Paragraphs of help.
    var details: [String] { makeDetails() }
    var examples: [Example] { makeExamples() }
    /// The codes worth naming for this command.
    var exitCodes: [ExitNote] { makeExitCodes() }

    /// What only help shows is made when it is asked for: every run of a command pays for its description.
    init(
        name: CommandName, summary: String, arguments: [ArgumentDescription] = [], options: [OptionDescription] = [],
        details: @escaping @Sendable @autoclosure () -> [String] = [],
        examples: @escaping @Sendable @autoclosure () -> [Example] = [],
        exitCodes: @escaping @Sendable @autoclosure () -> [ExitNote] = [],
        surplusHelp: String? = nil, mayHoldSecrets: Bool = false
    ) {
        self.name = name
        self.summary = summary
        self.arguments = arguments
        self.options = options
        self.surplusHelp = surplusHelp
        self.mayHoldSecrets = mayHoldSecrets
        makeDetails = details
        makeExamples = examples
        makeExitCodes = exitCodes
    }

    struct Example: Sendable, Encodable {
        let line: String
        let meaning: String
    }

    struct ExitNote: Sendable, Encodable {
        let code: ExitCode
        let meaning: String
    }
}

extension CommandDescription: Encodable {
    private enum CodingKeys: String, CodingKey {
        case name, summary, arguments, options, details, examples, exitCodes
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(summary, forKey: .summary)
        try container.encode(arguments, forKey: .arguments)
        try container.encode(options, forKey: .options)
        try container.encode(details, forKey: .details)
        try container.encode(examples, forKey: .examples)
        try container.encode(exitCodes, forKey: .exitCodes)
    }
}

/// A word that a command takes by its place.
struct ArgumentDescription: Sendable, Encodable {
    enum Count: String, Sendable, Encodable {
        case one, optional, oneOrMore
    }

    let name: String
    var count: Count = .one
    var completion: Completion = .none
    let help: String
}

/// What a shell is to offer in a place.
enum Completion: String, Sendable, Encodable {
    case none, file, secretName, command
}
