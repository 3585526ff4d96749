import Glibc
import LinuxSystem

enum TextEditor {
    /// - Throws: ``CommandError`` (`refused`) if the editor fails or a fatal signal arrives, which stays pending.
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

    /// Returns VISUAL, EDITOR or vi. Throws if vi would have no terminal, as it would then write the value to a log.
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

    /// Starts the editor on the terminal even if a standard stream is a pipe. Otherwise, the editor's screen would
    /// become part of this command's output.
    private static func start(_ line: String, _ path: String, _ signals: Int32) throws(SystemError) -> ChildProcess {
        let terminal = FileDescriptor(owning: open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY))
        let hasTerminal = terminal.number >= 0
        let readsTerminal = isatty(STDIN_FILENO) != 1 && hasTerminal
        let words = words(line, path)
        // Waits until the terminal shows no prompt. The running editor does not keep other commands from prompting,
        // because a user who suspends the editor may want to run a vault command that prompts.
        if hasTerminal { TerminalTurn.pass(at: terminal.number, interruptedBy: signals) }
        return try ChildProcess(
            words[0], words, input: readsTerminal ? .descriptor(terminal.number) : .inherited,
            output: isatty(STDOUT_FILENO) == 1 ? STDOUT_FILENO : hasTerminal ? terminal.number : STDERR_FILENO)
    }

    /// Returns the command line. A line of several words is run by a shell, as in git. A single word is run directly,
    /// because a shell would prevent signals from reaching the editor.
    private static func words(_ line: String, _ path: String) -> [String] {
        let isPlain = line.utf8.allSatisfy { !" \t\n|&;<>()$`\\\"'*?[#~=%".utf8.contains($0) }
        return isPlain ? [line, path] : ["/bin/sh", "-c", line + " \"$@\"", line, path]
    }

    /// Waits for the editor. Ignores the signals raised by Ctrl-C and Ctrl-\, because the editor uses these keys.
    private static func wait(
        for editor: inout ChildProcess, _ signals: borrowing HeldSignals
    ) throws -> ChildProcess.Exit {
        while true {
            if let exit = editor.exitIfEnded() { return exit }
            let number = signals.take()
            if [SIGCHLD, SIGINT, SIGQUIT].contains(number) { continue }
            editor.send(number)
            _ = editor.end()
            // Reading the signal has consumed it, so it is raised again. It takes effect once signals are unblocked.
            raise(number)
            throw CommandError.refused("A signal ended the editor; nothing was stored.")
        }
    }
}
