import FoundationEssentials
import Glibc
import Vault

enum StandardOutput {
    static let isTerminal = isatty(STDOUT_FILENO) == 1

    /// - Throws: ``CommandError/unwritableOutput(_:)``.
    static func write(_ text: String) throws(CommandError) { try check(SystemCall.writeAll(text, to: STDOUT_FILENO)) }

    /// Writes straight from guarded memory, without a buffer.
    static func write(_ secret: borrowing SecretBytes) throws(CommandError) {
        try check(secret.withUnsafeBytes { SystemCall.writeAll($0, to: STDOUT_FILENO) })
    }

    fileprivate static func write(_ bytes: [UInt8]) throws(CommandError) {
        try check(bytes.withUnsafeBytes { SystemCall.writeAll($0, to: STDOUT_FILENO) })
    }

    private static func check(_ error: Int32) throws(CommandError) {
        if error != 0 { throw .unwritableOutput(error) }
    }

    /// Returns a text from the vault for a line of a list: as it is for a pipe, escaped for a terminal.
    static func shown(_ text: String) -> String { isTerminal ? text.forTerminal : text }
}

enum StandardError {
    static let isTerminal = isatty(STDERR_FILENO) == 1

    /// Writes lines for a person. A failure is ignored: there is no other stream to report it on.
    static func write(_ text: String) { SystemCall.writeAll(text, to: STDERR_FILENO) }
}

/// Returns the width of the terminal behind a descriptor; nil if it is unknown or there is no terminal.
func terminalWidth(_ descriptor: Int32) -> Int? {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
}

// MARK: - Long lists

/// Writes long lists to standard output in pieces. A shorter list is written by ``finish()`` alone, so that a command
/// that fails early has no output.
struct OutputBuffer: ~Copyable {
    private static let pieceSize = 64 << 10

    private var bytes: [UInt8] = []

    mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Appends a JSON string with its quotation marks.
    mutating func append(json text: String) {
        append("\"")
        bytes.append(contentsOf: Escaping.json(text))
        append("\"")
    }

    mutating func append(_ date: Date) { Timestamp.write(date) { bytes.append($0) } }

    /// Ends an entry of the list, and writes the entries that fill a piece.
    mutating func endEntry() throws(CommandError) {
        guard bytes.count >= OutputBuffer.pieceSize else { return }
        try StandardOutput.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Writes the rest.
    consuming func finish() throws(CommandError) { try StandardOutput.write(bytes) }
}

// MARK: - Notes

/// Writes to standard error what is not a result: errors, warnings, and what was created.
enum Notes {
    static func report(_ error: CommandError, asJSON: Bool) {
        write("vault: " + error.message, asJSON ? ["error": error] : nil)
    }

    /// Reports a problem that did not stop the command.
    static func warn(_ error: CommandError, asJSON: Bool) {
        let text = "vault: warning: " + error.message
        write(text, asJSON ? ["warning": ["code": error.code, "message": error.message]] : nil)
    }

    /// Reports where a new vault and a new key file are.
    static func report(_ made: MadeReport, asJSON: Bool) { write(made.message, asJSON ? ["note": made.json] : nil) }

    static func reportWaiting(for process: Int?) {
        write("vault: Waiting for another process\(process.map { " (\($0))" } ?? "").", nil)
    }

    private static func write(_ text: String, _ report: JSONObject?) {
        StandardError.write((try? report?.line()) ?? text.forTerminal + "\n")
    }
}

/// What an invocation has created.
struct MadeReport {
    let vault, keyFile: String
    let madeVault, madeKeyFile, keyFileIsBesideVault, keyFileIsShort: Bool

    var json: JSONObject {
        [
            "vault": vault, "key_file": keyFile, "made_vault": madeVault, "made_key_file": madeKeyFile,
            "key_file_is_beside_vault": keyFileIsBesideVault, "key_file_is_short": keyFileIsShort,
        ]
    }

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
                "It is beside the vault, so a copy of the folder contains both. See `vault help places` for other locations."
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
