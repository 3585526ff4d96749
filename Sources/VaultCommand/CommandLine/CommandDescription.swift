/// The commands, in the order in which help lists them.
enum CommandName: String, CaseIterable, Sendable, Encodable {
    case initialize = "init"
    case set
    case get
    case list = "ls"
    case find
    case exists
    case remove = "rm"
    case move = "mv"
    case copy = "cp"
    case info
    case verify
    case compact
    case salvage
    case help
    case version
}

/// All that the parser, the help, the completions and the manual know of a command.
struct CommandDescription: Sendable, Encodable {
    let name: CommandName
    /// Half a sentence, without a full stop.
    let summary: String
    var arguments: [ArgumentDescription] = []
    /// The command's own options; ``GlobalOptions`` come on top.
    var options: [OptionDescription] = []
    /// Paragraphs of help.
    var details: [String] = []
    var examples: [Example] = []
    /// The codes worth naming for this command.
    var exitCodes: [ExitNote] = []
    /// Whether a person may have typed a secret among the words by mistake: then no error repeats a word.
    var mayHoldSecrets = false

    struct Example: Sendable, Encodable {
        let line: String
        let meaning: String
    }

    struct ExitNote: Sendable, Encodable {
        let code: ExitCode
        let meaning: String
    }

    /// What `vault help COMMAND --json` writes: `mayHoldSecrets` is for the parser alone.
    private enum CodingKeys: CodingKey {
        case name, summary, arguments, options, details, examples, exitCodes
    }
}

/// A word that a command takes by its position.
struct ArgumentDescription: Sendable, Encodable {
    enum Count: String, Sendable, Encodable {
        case one, optional, oneOrMore
    }

    let name: String
    var count: Count = .one
    var completion: Completion = .none
    let help: String
}

/// What a shell offers for an argument or a value.
enum Completion: String, Sendable, Encodable {
    case none, file, secretName, command
}
