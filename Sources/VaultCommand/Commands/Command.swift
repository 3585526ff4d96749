/// A command: what the parser and the help know of it, and what it does.
protocol Command {
    static var description: CommandDescription { get }

    /// Runs the command. An error ends the process with its exit code; see ``CommandError``.
    static func run(_ session: Session) throws -> ExitCode
}

/// The table of the commands. Descriptions are static properties of the commands, so that a start creates only one.
extension CommandName {
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
