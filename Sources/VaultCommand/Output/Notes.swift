/// What the tool says beside its results, on standard error: errors, and what it has made.
enum Notes {
    static func report(_ error: CommandError, asJSON: Bool) {
        if asJSON, let line = try? JSONText.encode(ErrorReport(error)) {
            StandardError.write(line)
        } else {
            StandardError.write("vault: " + error.message.forTerminal + "\n")
        }
    }

    /// What did not keep the command from doing its work.
    static func warn(_ error: CommandError, asJSON: Bool) {
        if asJSON, let line = try? JSONText.encode(WarningReport(error)) {
            StandardError.write(line)
        } else {
            StandardError.write("vault: warning: " + error.message.forTerminal + "\n")
        }
    }

    /// Says where a new vault and a new key file are. Losing the key loses the values, so it says that too.
    static func report(_ made: MadeReport, asJSON: Bool) {
        if asJSON, let line = try? JSONText.encode(["note": made]) {
            StandardError.write(line)
        } else {
            StandardError.write(made.message.forTerminal + "\n")
        }
    }

    /// Says what a command stands still for.
    static func reportWaiting(for process: Int?) {
        let number = process.map { " (\($0))" } ?? ""
        StandardError.write("vault: Waiting for another process\(number).\n")
    }
}

struct ErrorReport: Encodable {
    struct Content: Encodable {
        let code: String
        let exit: ExitCode
        let message: String
    }

    let error: Content

    init(_ error: CommandError) {
        self.error = Content(code: error.code, exit: error.exit, message: error.message)
    }
}

struct WarningReport: Encodable {
    struct Content: Encodable {
        let code: String
        let message: String
    }

    let warning: Content

    init(_ error: CommandError) {
        warning = Content(code: error.code, message: error.message)
    }
}

/// What an invocation has made.
struct MadeReport: Encodable {
    let vault: String
    let keyFile: String
    let madeVault: Bool
    let madeKeyFile: Bool
    let keyFileIsBesideVault: Bool
    let keyFileIsShort: Bool

    var message: String {
        var lines = [
            madeVault ? "Made a new vault: \(vault)" : "The vault: \(vault)",
            madeKeyFile ? "Made its key file: \(keyFile)" : "Its key file: \(keyFile)",
            "It must never change. Back it up, and not beside the vault: without it, what the vault holds is lost.",
        ]
        if keyFileIsBesideVault {
            lines.append(
                "It lies beside the vault: whoever copies the folder has both. `vault help places` tells of other places."
            )
        }
        if keyFileIsShort { lines.append("It has fewer than 16 bytes, and can be guessed.") }
        return lines.joined(separator: "\n")
    }
}
