import Glibc
import LinuxSystem

/// A question to which only an explicit yes counts as agreement.
enum Confirmation {
    /// Returns whether the user answers yes. Returns false if there is no terminal.
    static func ask(_ question: String) -> Bool { isYes(try? TerminalLine.ask(question)) }

    /// Returns whether the user answers yes; throws on Ctrl-D. Use this if answering no also changes something.
    ///
    /// - Parameter consequence: the end of the error message, such as "nothing was changed".
    static func askUnlessEnded(_ question: String, _ consequence: String) throws(CommandError) -> Bool {
        do { return isYes(try TerminalLine.ask(question)) } catch {
            _ = TerminalLine.show("\n")
            throw CommandError.refused("Cancelled; \(consequence).")
        }
    }

    private static func isYes(_ answer: String?) -> Bool {
        answer.map { ["y", "yes"].contains($0.lowercased()) } ?? false
    }
}

/// Lines written to the terminal, and answers read from it.
enum TerminalLine {
    /// Writes a string to the terminal. Returns false if there is no terminal.
    static func show(_ text: String) -> Bool {
        let device = FileDescriptor(owning: open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY))
        guard device.number >= 0 else { return false }
        SystemCall.writeAll(text, to: device.number)
        return true
    }

    struct InputEnded: Error {}

    /// Returns the user's answer, or nil if there is no terminal. Discards input typed before the question. Also
    /// discards the rest of an overlong line, so that the shell does not read it.
    static func ask(_ question: String) throws(InputEnded) -> String? {
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
            case nil: throw InputEnded()
            }
        }
        return String(decoding: line, as: UTF8.self)
    }
}
