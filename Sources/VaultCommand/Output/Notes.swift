import Vault

/// Writes to standard error what is not a result: errors, warnings, and what was created.
enum Notes {
    static func report(_ error: CommandError, asJSON: Bool) {
        write("vault: " + error.message, asJSON ? ["error": error] : nil)
    }

    /// Reports a problem that did not stop the command.
    static func warn(_ error: CommandError, asJSON: Bool) {
        write(
            "vault: warning: " + error.message,
            asJSON ? ["warning": ["code": error.code, "message": error.message]] : nil)
    }

    /// Reports where a new vault and a new key file are.
    static func report(_ made: MadeReport, asJSON: Bool) {
        write(made.message, asJSON ? ["note": made] : nil)
    }

    /// Reports what a command is waiting for.
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

/// What an invocation has created.
struct MadeReport: Encodable {
    let vault: String
    let keyFile: String
    let madeVault: Bool
    let madeKeyFile: Bool
    let keyFileIsBesideVault: Bool
    let keyFileIsShort: Bool

    /// Also says to back up the key: losing it loses the values.
    var message: String {
        var lines = [
            madeVault ? "Created a new vault: \(vault)" : "The vault: \(vault)",
            madeKeyFile ? "Created its key file: \(keyFile)" : "Its key file: \(keyFile)",
            "Back up the key file, separately from the vault. Without it the vault cannot be opened.",
            "The key file must never change.",
        ]
        if keyFileIsBesideVault {
            lines.append(
                "It is beside the vault: whoever copies the folder has both. See `vault help places` for other locations."
            )
        }
        if keyFileIsShort { lines.append("It has fewer than 16 bytes and can be guessed.") }
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
