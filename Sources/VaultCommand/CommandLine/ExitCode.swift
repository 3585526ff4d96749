/// How the process ends. The numbers are stable: scripts rely on them.
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
    // As env(1) ends if it starts no program, or one that cannot be started.
    case notStarted = 125
    case notExecutable = 126
    case notInstalled = 127

    var meaning: String {
        switch self {
        case .success: "done"
        case .other: "another error"
        case .usage: "wrong usage: an unknown option, an invalid name or value"
        case .notFound: "no such name, or no vault"
        case .refused: "refused: it already exists, is gone, or was not confirmed"
        case .locked: "locked: no key opens the vault, or none that was agreed to"
        case .damaged: "the vault is damaged or was tampered with"
        case .busy: "another process kept the vault busy"
        case .inputOutput: "reading or writing failed"
        case .alarm: "the vault file was rolled back, has diverged or was exchanged"
        case .expiring: "names expire within the time that `ls --expiring` was given"
        case .notStarted: "`vault run` failed itself, and has started no program"
        case .notExecutable: "`vault run` could not start the program"
        case .notInstalled: "`vault run` did not find the program"
        }
    }
}
