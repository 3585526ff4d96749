import FoundationEssentials
import Glibc
import Vault

enum StandardOutput {
    static let isTerminal = isatty(STDOUT_FILENO) == 1

    /// The terminal's width; nil if it is unknown or there is no terminal.
    static var columns: Int? { terminalWidth(STDOUT_FILENO) }

    /// - Throws: ``ClosedPipe``, ``CommandError``.
    static func write(_ text: String) throws {
        try check(SystemCall.writeAll(text, to: STDOUT_FILENO))
    }

    static func write(_ bytes: [UInt8]) throws {
        try check(bytes.withUnsafeBytes { SystemCall.writeAll($0, to: STDOUT_FILENO) })
    }

    /// Writes straight from guarded memory, without a buffer.
    static func write(_ secret: borrowing SecretBytes) throws {
        try check(secret.withUnsafeBytes { SystemCall.writeAll($0, to: STDOUT_FILENO) })
    }

    private static func check(_ error: Int32) throws {
        if error == EPIPE { throw ClosedPipe() }
        if error != 0 { throw CommandError.system("Standard output could not be written", error) }
    }
}

enum StandardError {
    static let isTerminal = isatty(STDERR_FILENO) == 1

    /// The terminal's width; nil if it is unknown or there is no terminal.
    static var columns: Int? { terminalWidth(STDERR_FILENO) }

    /// Writes lines for a person. A failure is ignored: there is no other stream to report it on.
    static func write(_ text: String) {
        SystemCall.writeAll(text, to: STDERR_FILENO)
    }
}

/// Returns the width of the terminal behind a descriptor; nil if it is unknown or there is no terminal.
private func terminalWidth(_ descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
}

// MARK: - Long lists

/// Writes long lists to standard output in pieces.
///
/// A list that is shorter than a piece is written by ``finish()`` alone, so that a command that fails early has no
/// output.
struct OutputBuffer: ~Copyable {
    private static let pieceSize = 64 << 10

    private var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(OutputBuffer.pieceSize)
    }

    mutating func append(_ text: String) throws {
        bytes.append(contentsOf: text.utf8)
        try writePiece()
    }

    /// Appends a JSON string with its quotation marks.
    mutating func append(json text: String) throws {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: Escaping.json(text))
        bytes.append(UInt8(ascii: "\""))
        try writePiece()
    }

    mutating func append(_ date: Date) throws {
        Timestamp.write(date) { bytes.append($0) }
        try writePiece()
    }

    /// Writes the rest.
    consuming func finish() throws {
        try StandardOutput.write(bytes)
    }

    private mutating func writePiece() throws {
        guard bytes.count >= OutputBuffer.pieceSize else { return }
        try StandardOutput.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}

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
