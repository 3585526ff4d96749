import Glibc
import LinuxSystem

/// Asks a question that only an explicit yes confirms.
enum Confirmation {
    /// Returns whether the user confirms; false without a terminal.
    static func ask(_ question: String) -> Bool {
        let answer = TerminalLine.ask(question)?.lowercased()
        return answer == "y" || answer == "yes"
    }
}

/// Writes lines to the terminal, and reads answers.
enum TerminalLine {
    /// Writes a text. Returns false without a terminal.
    static func show(_ text: String) -> Bool {
        let device = FileDescriptor(owning: open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY))
        guard device.number >= 0 else { return false }
        SystemCall.writeAll(text, to: device.number)
        return true
    }

    /// Returns the answer; nil without a terminal, or at the end of its input. Input that was typed before the question
    /// is no answer, and the rest of a long line must not reach the shell.
    static func ask(_ question: String) -> String? {
        guard let terminal = try? PromptTerminal.open(for: .question) else { return nil }
        SystemCall.writeAll(question, to: terminal.descriptor)
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < 1_024 {
            switch try? withUnsafeMutableBytes(of: &byte, { try terminal.next(into: $0, within: -1) }) {
            case .byte where byte == UInt8(ascii: "\n"): return String(decoding: line, as: UTF8.self)
            case .byte: line.append(byte)
            case .interruption:
                line = []
                SystemCall.writeAll(question, to: terminal.descriptor)
            case .pause: break
            case nil: return nil
            }
        }
        return String(decoding: line, as: UTF8.self)
    }
}
