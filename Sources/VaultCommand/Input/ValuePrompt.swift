import Glibc
import Sealing
import Vault

/// Asks for a value at the terminal, twice, without showing it.
enum ValuePrompt {
    /// How long to wait after the byte of Esc before it counts as that key: the bytes of other keys arrive together.
    private static let escapeMilliseconds: Int32 = 50

    /// - Throws: ``CommandError``: refused if the two inputs differ, or if Ctrl-D cancels an empty one.
    static func ask(for name: String) throws -> SecretBytes {
        let terminal = try HiddenTerminal.open()
        let first = try readLine("Value of \(name.forTerminal) (not shown): ", terminal)
        let second = try readLine("Repeat the value: ", terminal)
        guard first.isEqual(to: second) else {
            throw CommandError.refused("The two inputs differ; nothing was stored.")
        }
        return first
    }

    private static func readLine(_ prompt: String, _ terminal: borrowing HiddenTerminal) throws -> SecretBytes {
        let descriptor = terminal.descriptor
        SystemCall.writeAll(prompt, to: descriptor)
        // The newline that was typed is not shown either.
        defer { SystemCall.writeAll("\n", to: descriptor) }
        var editor = LineEditor(keys: terminal.keys)
        return try SecretBytes.growing(from: 4096, to: Keychain.maximumValueSize + 1) { line, used in
            while used < line.count {
                let patience = editor.awaitsEscape ? escapeMilliseconds : -1
                switch try terminal.next(to: line.baseAddress! + used, within: patience) {
                case .byte:
                    switch editor.takeByte(line, &used) {
                    case .goesOn: break
                    case .finished: return true
                    case .cancelled: throw CommandError.refused("Cancelled; nothing was stored.")
                    }
                case .pause:
                    editor.endEscape()
                case .interruption:
                    editor = LineEditor(keys: terminal.keys)
                    used = 0
                    SystemCall.writeAll(prompt, to: descriptor)
                case .end:
                    throw CommandError.system("The terminal could not be read", EIO)
                }
            }
            return false
        }
    }
}
