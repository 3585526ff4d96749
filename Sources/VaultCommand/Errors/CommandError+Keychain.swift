import Vault

extension CommandError {
    init(_ error: VaultError) {
        let row = CommandError.row(of: error.code)
        self.init(
            code: row.code, exit: row.exit,
            message: row.hint.map { "\(error.description) \($0)" } ?? error.description)
    }

    /// The library's codes, as programs and the shell see them, and what this tool adds to the library's sentence.
    static func row(of code: VaultError.Code) -> (code: String, exit: ExitCode, hint: String?) {
        switch code {
        case .absent: ("absent", .notFound, nil)
        case .noVault: ("no-vault", .notFound, nil)
        case .gone: ("gone", .refused, nil)
        case .exists: ("exists", .refused, nil)
        case .invalid: ("invalid", .usage, nil)
        case .locked: ("locked", .locked, nil)
        case .damaged: ("damaged", .damaged, nil)
        case .newerFormat: ("newer-format", .other, nil)
        case .busy: ("busy", .busy, "--timeout SECONDS waits longer.")
        case .unavailable: ("unavailable", .inputOutput, nil)
        case .outcomeUnknown: ("outcome-unknown", .inputOutput, nil)
        case .wrongType: ("wrong-type", .other, nil)
        case .rolledBack: ("rolled-back", .alarm, nil)
        case .diverged: ("diverged", .alarm, nil)
        case .exchanged: ("exchanged", .alarm, nil)
        default: ("other", .other, nil)
        }
    }
}
