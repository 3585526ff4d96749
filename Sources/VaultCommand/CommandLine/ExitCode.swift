/// The exit codes of the process. The numbers never change, because scripts rely on them.
enum ExitCode: Int32, CaseIterable, Sendable, Encodable {
    case success = 0
    case other = 1
    case usage = 2
    case notFound = 3
    case refused = 4
    case locked = 5
    case damaged = 6
    case busy = 7
    case inputOutput = 8
    case alarm = 9
    case expiring = 10
    // The next three codes are the ones that env(1) uses if it cannot start a program.
    case notStarted = 125
    case notExecutable = 126
    case notInstalled = 127

    var meaning: String {
        switch self {
        case .success: "done"
        case .other: "another error"
        case .usage: "wrong usage: an unknown option, an invalid name or value"
        case .notFound: "no such name, or no vault"
        case .refused: "refused: the target exists, the vault no longer exists, or the action was not confirmed"
        case .locked: "locked: no usable key, or one that you have not approved"
        case .damaged: "the vault is damaged or was tampered with"
        case .busy: "another process kept the vault busy"
        case .inputOutput: "reading or writing failed"
        case .alarm: "the vault file has been rolled back, has diverged, or has been exchanged for another"
        case .expiring: "names expire within the time given to `ls --expiring`"
        case .notStarted: "`vault run` itself failed"
        case .notExecutable: "`vault run` could not start the program"
        case .notInstalled: "`vault run` did not find the program"
        }
    }
}
