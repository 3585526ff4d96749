import Glibc
import LinuxSystem
import Vault

/// The terminal emulator's clipboard, which the escape sequence OSC 52 sets, even over ssh. Few terminals allow
/// programs to read this clipboard, so this program cannot check whether the text has arrived.
enum TerminalClipboard {
    /// The maximum size of a copied text in bytes. Its base64 form fits in the 100,000 bytes that all terminals accept.
    static let largestText = 74_994

    /// The path of the terminal that a standard stream is connected to; nil if there is none, or if it might not
    /// support OSC 52. The process that clears the clipboard opens this path again.
    static var path: String? {
        guard EscapeSequences.areObeyed else { return nil }
        for descriptor in [STDERR_FILENO, STDIN_FILENO, STDOUT_FILENO] {
            if let path = ttyname(descriptor) { return String(cString: path) }
        }
        return nil
    }

    /// - Throws: ``CommandError`` if the text is too long.
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

    /// Overwrites the clipboard with a space, which all terminals and tmux accept, and then with an empty string. The
    /// empty string clears the clipboard only in terminals that allow it.
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
