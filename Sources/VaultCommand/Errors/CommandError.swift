import Glibc
import Sealing
import Vault

/// The one error of the tool: a code for programs, a sentence for people, the exit code for the shell. Whatever fails
/// below is translated into it, once.
struct CommandError: Error, Equatable {
    /// Stable, as documented by `vault help json`.
    let code: String
    let exit: ExitCode
    /// One sentence or more, never a secret.
    var message: String
}

extension CommandError {
    /// Translates any error of the layers below.
    init(_ error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as UsageError: self.init(code: "usage", exit: .usage, message: error.description)
        case let error as VaultError: self.init(error)
        case is StandardOutput.ClosedPipe: self = .system("Standard output could not be written", EPIPE)
        case is SealingError:
            self.init(
                code: "unavailable", exit: .inputOutput, message: "There is no guarded memory left for the value.")
        // The type alone: nobody knows what the error itself would tell.
        default: self.init(code: "other", exit: .other, message: "An unforeseen error came up: \(type(of: error)).")
        }
    }

    /// A system call that failed on something a person can name.
    static func system(_ what: String, _ number: Int32) -> CommandError {
        CommandError(code: "unavailable", exit: .inputOutput, message: "\(what): \(SystemCall.text(of: number)).")
    }

    static func invalid(_ message: String) -> CommandError {
        CommandError(code: "invalid", exit: .usage, message: message)
    }

    static func refused(_ message: String) -> CommandError {
        CommandError(code: "refused", exit: .refused, message: message)
    }

    static func absent(_ name: String, near: String?) -> CommandError {
        let question = near.map { " Did you mean \"\($0)\"?" } ?? ""
        return CommandError(
            code: "absent", exit: .notFound, message: "There is nothing named \"\(name)\" in the vault.\(question)")
    }
}
