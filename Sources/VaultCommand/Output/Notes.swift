import Vault

/// What the tool says beside its results, on standard error: errors, warnings, and what it has made.
enum Notes {
    static func report(_ error: CommandError, asJSON: Bool) {
        write("vault: " + error.message, asJSON ? ["error": error] : nil)
    }

    /// What did not keep the command from doing its work.
    static func warn(_ error: CommandError, asJSON: Bool) {
        write(
            "vault: warning: " + error.message,
            asJSON ? ["warning": ["code": error.code, "message": error.message]] : nil)
    }

    /// Says where a new vault and a new key file are.
    static func report(_ made: MadeReport, asJSON: Bool) {
        write(made.message, asJSON ? ["note": made] : nil)
    }

    /// Says what a command stands still for.
    static func reportWaiting(for process: Int?) {
        let number = process.map { " (\($0))" } ?? ""
        write("vault: Waiting for another process\(number).", [String: String]?.none)
    }

    private static func write(_ text: String, _ report: (some Encodable)?) {
        if let report, let line = try? JSONText.encode(report) {
            StandardError.write(line)
        } else {
            StandardError.write(text.forTerminal + "\n")
        }
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

    /// Losing the key loses the values, so it says that too.
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

extension MadeReport {
    init(_ keychain: Keychain) {
        let (places, created) = (keychain.places, keychain.created)
        self.init(
            vault: places.vault, keyFile: places.keyFile, madeVault: created.vault, madeKeyFile: created.keyFile,
            keyFileIsBesideVault: created.keyFileIsBesideVault, keyFileIsShort: created.keyFileIsShort)
    }
}
