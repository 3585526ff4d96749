import Glibc
import LinuxSystem

/// Asks a person a question that only a clear yes confirms.
enum Confirmation {
    /// Returns false without a terminal.
    static func ask(_ question: String) -> Bool {
        let answer = TerminalLine.ask(question)?.lowercased()
        return answer == "y" || answer == "yes"
    }
}

/// Shows lines at the terminal, and reads them.
enum TerminalLine {
    /// Returns false without a terminal.
    static func show(_ text: String) -> Bool {
        let device = FileDescriptor(owning: open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY))
        guard device.number >= 0 else { return false }
        SystemCall.writeAll(text, to: device.number)
        return true
    }

    /// nil without a terminal, or at its end.
    static func ask(_ question: String) -> String? {
        let device = FileDescriptor(owning: open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY))
        guard device.number >= 0 else { return nil }
        // What was typed before the question is no answer to it, and the rest of a long line is none for the shell.
        tcflush(device.number, TCIFLUSH)
        defer { tcflush(device.number, TCIFLUSH) }
        SystemCall.writeAll(question, to: device.number)
        var line = [UInt8](repeating: 0, count: 1_024)
        let count = read(device.number, &line, line.count)
        guard count > 0 else { return nil }
        return String(decoding: line[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
