import Glibc
import Vault

/// Asks for a value at the terminal, twice, without showing it.
enum ValuePrompt {
    /// - Throws: ``CommandError``: refused if the two entries differ.
    static func ask(for name: String) throws -> SecretBytes {
        let terminal = try HiddenTerminal.open()
        let first = try readLine("Value of \(name.forTerminal) (not shown): ", terminal)
        let second = try readLine("The same again: ", terminal)
        guard areEqual(first, second) else {
            throw CommandError.refused("The two entries differ; nothing was stored.")
        }
        return first
    }

    private static func readLine(_ prompt: String, _ terminal: borrowing HiddenTerminal) throws -> SecretBytes {
        let descriptor = terminal.descriptor
        write(prompt, to: descriptor)
        // A newline that was typed is not shown either.
        defer { write("\n", to: descriptor) }
        return try SecretBytes.growing(from: 4096, to: Keychain.maximumValueSize + 1) { line, used in
            while used < line.count {
                switch try terminal.next(to: line.baseAddress! + used) {
                case .byte:
                    if terminal.editor.takeByte(line, &used) == .finished { return true }
                case .interruption:
                    used = 0
                    write(prompt, to: descriptor)
                case .end:
                    throw CommandError.system("The terminal could not be read", EIO)
                }
            }
            return false
        }
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var text = text
        _ = text.withUTF8 { SystemCall.writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    private static func areEqual(_ left: borrowing SecretBytes, _ right: borrowing SecretBytes) -> Bool {
        left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in left.elementsEqual(right) }
        }
    }
}
