import Glibc
import LinuxSystem

/// The editor of a person's choice.
enum TextEditor {
    /// Lets the person edit a file.
    ///
    /// - Throws: ``CommandError``: refused if the editor fails or a signal asks this process to end. The signal is
    ///   pending then.
    static func edit(_ path: String, holding signals: borrowing HeldSignals) throws {
        let line = try chosen()
        var editor: ChildProcess
        do throws(SystemError) {
            editor = try start(line, path, signals.descriptor)
        } catch { throw error.isMissing ? missing(line) : .system("`\(line)` could not be started", error.number) }
        switch try wait(for: &editor, signals) {
        case .status(0): return
        case .status(127): throw missing(line)
        case .status(let status):
            throw CommandError.refused("The editor ended with exit code \(status); nothing was stored.")
        case .signal(let number):
            throw CommandError.refused("Signal \(number) ended the editor; nothing was stored.")
        case .unseen: throw CommandError.refused("How the editor ended is not known; nothing was stored.")
        }
    }

    /// As other programs choose it. vi would show the value in a log if there is no terminal.
    private static func chosen() throws(CommandError) -> String {
        if let line = environmentVariable("VISUAL") ?? environmentVariable("EDITOR") { return line }
        let terminal = FileDescriptor(owning: open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY))
        guard terminal.number >= 0 || isatty(STDOUT_FILENO) == 1 else {
            throw .refused("There is no terminal for vi. Set VISUAL or EDITOR to an editor that needs none.")
        }
        return "vi"
    }

    private static func missing(_ line: String) -> CommandError {
        .refused("There is no editor `\(line)`. Set VISUAL or EDITOR to yours.")
    }

    /// The editor has the terminal, also if a standard stream is a pipe: its screen would become a part of this
    /// command's output.
    private static func start(
        _ line: String, _ path: String, _ signals: Int32
    ) throws(SystemError) -> ChildProcess {
        let terminal = FileDescriptor(owning: open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY))
        let hasTerminal = terminal.number >= 0
        let readsTerminal = isatty(STDIN_FILENO) != 1 && hasTerminal
        let words = words(line, path)
        // The editor has the terminal once nobody asks there. It does not keep its turn: a person who stops the editor
        // may want to ask the vault for something.
        if hasTerminal { TerminalTurn.pass(at: terminal.number, interruptedBy: signals) }
        return try ChildProcess(
            words[0], words, input: readsTerminal ? .descriptor(terminal.number) : .inherited,
            output: isatty(STDOUT_FILENO) == 1 ? STDOUT_FILENO : hasTerminal ? terminal.number : STDERR_FILENO)
    }

    /// A line of several words is for the shell, as it is in git. A single one is started without it: the shell would
    /// keep signals from the editor.
    private static func words(_ line: String, _ path: String) -> [String] {
        let isPlain = line.utf8.allSatisfy { !" \t\n|&;<>()$`\\\"'*?[#~=%".utf8.contains($0) }
        return isPlain ? [line, path] : ["/bin/sh", "-c", line + " \"$@\"", line, path]
    }

    /// Ctrl-C and Ctrl-\ at the terminal are the editor's keys.
    private static func wait(
        for editor: inout ChildProcess, _ signals: borrowing HeldSignals
    ) throws -> ChildProcess.Exit {
        while true {
            if let exit = editor.exitIfEnded() { return exit }
            let number = signals.take()
            if [SIGCHLD, SIGINT, SIGQUIT].contains(number) { continue }
            editor.send(number)
            _ = editor.end()
            // It is taken: give it back, for the moment at which the signals are released.
            raise(number)
            throw CommandError.refused("A signal ended the editor; nothing was stored.")
        }
    }
}
