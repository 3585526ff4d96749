/// The commands, in the order in which help lists them. Each one's description lies with the command itself and is
/// made only when it is asked for, so that a start pays for one command and not for all.
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

    /// What runs under the name.
    var command: any Command.Type {
        switch self {
        case .initialize: InitCommand.self
        case .set: SetCommand.self
        case .get: GetCommand.self
        case .list: ListCommand.self
        case .find: FindCommand.self
        case .exists: ExistsCommand.self
        case .remove: RemoveCommand.self
        case .move: MoveCommand.self
        case .copy: CopyCommand.self
        case .info: InfoCommand.self
        case .verify: VerifyCommand.self
        case .compact: CompactCommand.self
        case .salvage: SalvageCommand.self
        case .help: HelpCommand.self
        case .version: VersionCommand.self
        }
    }

    var description: CommandDescription { command.description }
}

/// A command: one row of the table, and what it does.
protocol Command {
    static var description: CommandDescription { get }

    /// Does the work. An error ends the process with its exit code; see ``CommandError``.
    static func run(_ session: Session) throws -> ExitCode
}
