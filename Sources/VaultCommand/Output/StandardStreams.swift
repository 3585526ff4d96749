import FoundationEssentials
import Glibc
import LinuxSystem
import Vault

enum StandardOutput {
    static let isTerminal = isatty(STDOUT_FILENO) == 1

    static func write(_ text: String) throws(CommandError) { try Array(text.utf8).withRawBytes(write) }

    /// Writes directly from a buffer, so that a secret stays in guarded memory.
    ///
    /// - Throws: ``CommandError/unwritableOutput(_:)``.
    static func write(_ bytes: UnsafeRawBufferPointer) throws(CommandError) {
        let error = SystemCall.writeAll(bytes, to: STDOUT_FILENO)
        if error != 0 { throw .unwritableOutput(error) }
    }

    /// Writes JSON for another program. The JSON stays in guarded memory.
    static func write(_ json: SecretJSON) throws {
        guard let line = try json.line() else {
            throw CommandError.invalid("The value is not UTF-8, so it cannot be part of JSON.")
        }
        try write(line)
    }

    static func write(_ secret: borrowing SecretBytes) throws(CommandError) { try secret.withUnsafeBytes(write) }

    /// Returns a string as it should be printed: escaped if standard output is a terminal, otherwise unchanged.
    static func shown(_ text: String) -> String { isTerminal ? text.forTerminal : text }
}

enum StandardError {
    static let isTerminal = isatty(STDERR_FILENO) == 1

    /// Writes a string. Ignores failures, because no other stream is left on which to report them.
    static func write(_ text: String) { SystemCall.writeAll(text, to: STDERR_FILENO) }
}

func terminalWidth(_ descriptor: Int32) -> Int? {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
}

/// A buffer for long lists, which are written to standard output in parts. A list of less than 64 KiB is written only
/// by ``finish()``, so that a command that fails early prints nothing.
struct OutputBuffer: ~Copyable {
    private var bytes: [UInt8] = []

    mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func append(json text: String) {
        append("\"")
        bytes.append(contentsOf: Escaping.json(text))
        append("\"")
    }

    mutating func append(_ date: Date) { Timestamp.write(date) { bytes.append($0) } }

    /// Ends an entry of the list. If the buffer has reached 64 KiB, writes it to standard output and empties it.
    mutating func endEntry() throws(CommandError) {
        guard bytes.count >= 64 << 10 else { return }
        try bytes.withRawBytes(StandardOutput.write)
        bytes.removeAll(keepingCapacity: true)
    }

    consuming func finish() throws(CommandError) { try bytes.withRawBytes(StandardOutput.write) }
}

/// The messages on standard error: errors, warnings, and reports of created files.
enum Notes {
    static func report(_ error: CommandError, asJSON: Bool) {
        write("vault: " + error.message, asJSON ? ["error": error] : nil)
    }

    private static let warned = Mutex<Set<String>>([])

    /// Reports a problem that did not stop the command. Each message is reported only once, because a command may open
    /// the vault and the rollback memory several times.
    static func warn(_ error: CommandError, asJSON: Bool) {
        guard warned.withLock({ $0.insert(error.message).inserted }) else { return }
        let text = "vault: warning: " + error.message
        write(text, asJSON ? ["warning": ["code": error.code, "message": error.message]] : nil)
    }

    static func reportCreated(_ keychain: Keychain, asJSON: Bool) {
        let created = keychain.created
        let location = keychain.location
        write(created.message(at: location), asJSON ? ["note": created.json(at: location)] : nil)
    }

    static func inform(_ text: String) { write("vault: " + text, nil) }

    static func reportKeyFile(_ path: String?) {
        if let path { inform("Created the key file \(path). Back it up, separately from the vault.") }
    }

    /// Warns if the system allows other programs to read this process's memory.
    static func warnIfMemoryIsOpen(asJSON: Bool) {
        guard ProcessState.former.isDumpable else { return }
        let error = CommandError.unavailable(
            "Core dumps and reads of this process's memory could not be disabled (prctl), so "
                + "your other programs can read its secrets. Allow the call prctl in the sandbox or container."
        )
        warn(error, asJSON: asJSON)
    }

    static func reportWaiting(for process: Int?) {
        write("vault: Waiting for another process\(process.map { " (\($0))" } ?? "").", nil)
    }

    private static func write(_ text: String, _ report: JSONObject?) {
        StandardError.write((try? report?.line()) ?? text.forTerminal + "\n")
    }
}

extension Keychain.Created {
    func json(at location: VaultLocation) -> JSONObject {
        [
            "vault": location.vault, "key_file": location.keyFile, "made_vault": vault, "made_key_file": keyFile,
            "key_file_is_beside_vault": keyFileIsBesideVault, "key_file_is_short": keyFileIsShort,
        ]
    }

    /// Returns the message about the created files, with a reminder to back up the key.
    func message(at location: VaultLocation) -> String {
        let what = location.keyCommand == nil ? "key file" : "key"
        let besideVault =
            "It is next to the vault, so a copy of the folder contains both."
            + " See `vault help locations` for other locations."
        let lines = [
            vault ? "Created a new vault: \(location.vault)" : "The vault: \(location.vault)",
            location.keyCommand.map { "Its key: the output of \($0.quoted)" }
                ?? (keyFile ? "Created its key file: \(location.keyFile)" : "Its key file: \(location.keyFile)"),
            "Back up the \(what), separately from the vault. Without it the vault cannot be opened.",
            "Never change the \(what).",
            keyFileIsBesideVault ? besideVault : nil,
            keyFileIsShort ? "The key has fewer than 16 bytes and can be guessed." : nil,
        ]
        return lines.compactMap(\.self).joined(separator: "\n")
    }
}

/// The escape sequences that move the cursor, clear or colour the screen, and set the clipboard. All code that writes
/// such a sequence checks ``areObeyed`` first.
enum EscapeSequences {
    /// Whether this process's terminals interpret escape sequences. A terminal of the type `dumb`, such as a shell
    /// window in an editor, shows them as text.
    static let areObeyed = environmentVariable("TERM") != "dumb"
}
