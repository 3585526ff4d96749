import Glibc
import LinuxSystem

enum TextEditor {
    /// - Throws: ``CommandError`` (refused) if the editor fails, or on a fatal signal, which is then pending.
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
        case .signal(let number): throw CommandError.refused("Signal \(number) ended the editor; nothing was stored.")
        case .unseen: throw CommandError.refused("The editor's exit status is unknown; nothing was stored.")
        }
    }

    /// Returns the editor from VISUAL, EDITOR or else vi. Without a terminal, vi would write the value to a log.
    private static func chosen() throws(CommandError) -> String {
        if let line = environmentVariable("VISUAL") ?? environmentVariable("EDITOR") { return line }
        let terminal = FileDescriptor(owning: open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY))
        guard terminal.number >= 0 || isatty(STDOUT_FILENO) == 1 else {
            throw .refused("No terminal for vi. Set VISUAL or EDITOR to an editor that needs no terminal.")
        }
        return "vi"
    }

    private static func missing(_ line: String) -> CommandError {
        .refused("Editor not found: `\(line)`. Set VISUAL or EDITOR to an installed one.")
    }

    /// Starts the editor at the terminal even if a standard stream is a pipe. Otherwise, the editor's screen would
    /// become part of this command's output.
    private static func start(_ line: String, _ path: String, _ signals: Int32) throws(SystemError) -> ChildProcess {
        let terminal = FileDescriptor(owning: open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY))
        let hasTerminal = terminal.number >= 0
        let readsTerminal = isatty(STDIN_FILENO) != 1 && hasTerminal
        let words = words(line, path)
        // The editor starts when no prompt is shown at the terminal. It does not keep other prompts waiting, because a
        // user who stops the editor may want to run a vault command that prompts.
        if hasTerminal { TerminalTurn.pass(at: terminal.number, interruptedBy: signals) }
        return try ChildProcess(
            words[0], words, input: readsTerminal ? .descriptor(terminal.number) : .inherited,
            output: isatty(STDOUT_FILENO) == 1 ? STDOUT_FILENO : hasTerminal ? terminal.number : STDERR_FILENO)
    }

    /// Returns the command line. A shell runs a line of several words, as in git. A single word is run directly,
    /// because a shell would keep signals from the editor.
    private static func words(_ line: String, _ path: String) -> [String] {
        let isPlain = line.utf8.allSatisfy { !" \t\n|&;<>()$`\\\"'*?[#~=%".utf8.contains($0) }
        return isPlain ? [line, path] : ["/bin/sh", "-c", line + " \"$@\"", line, path]
    }

    /// Waits for the editor. This process ignores the signals of Ctrl-C and Ctrl-\, which are keys of the editor.
    private static func wait(
        for editor: inout ChildProcess, _ signals: borrowing HeldSignals
    ) throws -> ChildProcess.Exit {
        while true {
            if let exit = editor.exitIfEnded() { return exit }
            let number = signals.take()
            if [SIGCHLD, SIGINT, SIGQUIT].contains(number) { continue }
            editor.send(number)
            _ = editor.end()
            // `take()` has consumed the signal, so it is raised again. It takes effect when the signals are unblocked.
            raise(number)
            throw CommandError.refused("A signal ended the editor; nothing was stored.")
        }
    }
}
