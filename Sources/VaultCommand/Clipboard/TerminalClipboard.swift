import Glibc
import LinuxSystem
import Sealing
import Vault

/// The clipboard of the terminal emulator, which also works over ssh: the control sequence OSC 52 sets it. Few
/// terminals allow programs to read it, so it is unknown whether it has the text, or still has it.
enum TerminalClipboard {
    /// The largest text in bytes. Terminals accept sequences of at least 100,000 bytes, in base64.
    static let largestText = 74_994

    /// The path of the terminal behind one of the standard streams, if it may have a clipboard. To clear the clipboard,
    /// the path is opened again.
    static var path: String? {
        guard EscapeSequences.areObeyed else { return nil }
        for descriptor in [STDERR_FILENO, STDIN_FILENO, STDOUT_FILENO] {
            if let path = ttyname(descriptor) { return String(cString: path) }
        }
        return nil
    }

    /// - Throws: ``CommandError`` for a text that is too long.
    static func copy(_ text: borrowing SecretBytes, to path: String) throws -> Bool {
        guard text.count <= largestText else {
            throw CommandError.refused(
                "The value is too long for the terminal's clipboard (at most 74,994 bytes); it was not copied.")
        }
        return try text.withUnsafeBytes { text in
            let sequence = try sequence(SecretBytes(base64Of: text))
            return sequence.withUnsafeBytes { write($0, to: path) }
        }
    }

    /// Sets a blank, which all terminals and tmux accept, and then nothing, which clears the clipboard where that is
    /// allowed.
    static func clear(_ path: String) {
        for text in ["IA==", ""] {
            guard let sequence = try? sequence(SecretBytes(utf8: text)) else { continue }
            _ = sequence.withUnsafeBytes { write($0, to: path) }
        }
    }

    private static func sequence(_ base64: borrowing SecretBytes) throws -> SecretBytes {
        try base64.withUnsafeBytes { base64 in
            try SecretBytes(composing: { put in
                "\u{1b}]52;c;".utf8.forEach(put)
                base64.forEach(put)
                put(0x07)
            })
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to path: String) -> Bool {
        let terminal = FileDescriptor(owning: open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC))
        return terminal.number >= 0 && isatty(terminal.number) == 1
            && SystemCall.writeAll(bytes, to: terminal.number) == 0
    }
}
