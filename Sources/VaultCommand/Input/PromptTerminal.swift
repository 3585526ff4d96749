import Glibc
import LinuxSystem

/// The terminal during a prompt, usually with the echo off. The echo is restored even after an error or a signal.
///
/// There is no signal handler. During a prompt, signals are blocked, and polled together with the keyboard. If a signal
/// is pending, the echo is restored first; the signal is then unblocked, and ends or stops the process as usual. If the
/// process continues, the echo is turned off again. The same happens if another program takes control of the terminal.
struct PromptTerminal: ~Copyable {
    enum Event {
        case byte
        /// No key was pressed before the timeout.
        case pause
        /// The process was stopped or otherwise interrupted, and has continued. The caller shows the prompt again.
        case interruption
    }

    /// The kind of text shown on the terminal.
    enum Display {
        /// A question. The user types the answer visibly, in the terminal's own line mode.
        case question
        case prompt
        /// A list. Its lines start at the cursor and are erased before the terminal is restored. A change of the
        /// terminal's size counts as an interruption. Ctrl-C is read as a key and raises no signal.
        case list
    }

    /// The interval, in milliseconds, at which a prompt checks that no other program has taken control of the terminal.
    private static let glance: Int32 = 100

    private let device: FileDescriptor
    private let signals: HeldSignals
    private let turn: TerminalTurn
    private let display: Display

    var descriptor: Int32 { device.number }

    /// Whether this prompt had to wait for another process's prompt.
    var hasWaited: Bool { turn.hasWaited }

    /// The editing keys of the terminal's own line mode.
    var keys: LineEditor.Keys {
        withUnsafeBytes(of: turn.modes.c_cc) { keys in
            LineEditor.Keys(
                erase: keys[Int(VERASE)], eraseWord: keys[Int(VWERASE)], eraseLine: keys[Int(VKILL)],
                literal: keys[Int(VLNEXT)], endOfFile: keys[Int(VEOF)])
        }
    }

    static func open(for display: Display = .prompt) throws(CommandError) -> PromptTerminal {
        // If /dev/tty cannot be opened, as in some containers, standard input may still be a terminal.
        let own = Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        let device = FileDescriptor(owning: own >= 0 ? own : dup(STDIN_FILENO))
        var modes = termios()
        guard tcgetattr(device.number, &modes) == 0 else {
            let isTerminal = errno != ENOTTY && errno != EBADF
            throw isTerminal
                ? .system(PromptTerminal.isUnusable, errno)
                : .refused("There is no terminal for the prompt. Run the command at a terminal.")
        }
        // While SIGTTOU is blocked, echo can be restored even if another program controls the terminal.
        let signals = try HeldSignals(
            besides: [SIGCHLD, SIGURG] + (display == .list ? [] : [SIGWINCH]), problem: PromptTerminal.isUnusable)
        let turn = TerminalTurn(at: device.number)
        let terminal = PromptTerminal(device: device, signals: signals, turn: turn, display: display)
        try terminal.hide()
        return terminal
    }

    private static let isUnusable = "The terminal could not be prepared for hidden input"

    /// The error if another program controls the terminal and no shell can return it to this process, as in
    /// `diff <(vault get a) <(vault get b)`.
    static let isInBackground = CommandError(
        code: "locked", exit: .locked,
        message: "Another program controls the terminal, so no prompt can be shown. Unlock the vault first "
            + "(`vault help unlock`), or run the command by itself.")

    deinit { show() }

    /// Waits for a key (forever if `milliseconds` is -1), and reads its byte directly into the caller's guarded buffer.
    func next(into free: UnsafeMutableRawBufferPointer, within milliseconds: Int32) throws(CommandError) -> Event {
        var waiting = [
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: device.number, events: Int16(POLLIN), revents: 0),
        ]
        let problem = "The terminal could not be read"
        let time = milliseconds < 0 ? PromptTerminal.glance : milliseconds
        while true {
            let ready = try SystemCall.retrying(problem) { poll(&waiting, 2, time) }
            if waiting[0].revents != 0 || !ProcessState.isInFront(at: device.number) {
                show()
                try hide()
                return .interruption
            }
            if ready > 0 { break }
            if milliseconds >= 0 { return .pause }
        }
        let count = try SystemCall.retrying(problem) { read(device.number, free.baseAddress, min(1, free.count)) }
        // A read of zero bytes means that the terminal was closed.
        if count == 0 { throw .system(problem, EIO) }
        return .byte
    }

    /// Waits until this process controls the terminal and no other prompt is shown there, then turns the echo off.
    /// Blocks signals before that, because a signal that ended the process would leave the echo off.
    private func hide() throws(CommandError) {
        while true {
            try awaitFront()
            signals.hold()
            if try turn.begin(interruptedBy: signals.descriptor) == .taken {
                if ProcessState.isInFront(at: device.number) { break }
                turn.end()
            }
            signals.release()
        }
        var modes = turn.modes
        if display != .question { modes.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON) }
        withUnsafeMutableBytes(of: &modes.c_cc) { keys in
            if display != .question {
                keys[Int(VMIN)] = 1
                keys[Int(VTIME)] = 0
            }
            // Disables the interrupt character, so that Ctrl-C raises no signal.
            if display == .list { keys[Int(VINTR)] = 0 }
        }
        // Input typed before the list appeared is kept, because it is meant for the list.
        try turn.set(modes, dropping: display != .list)
    }

    /// Stops this process until it is in the foreground, as the kernel does with a background process that reads input.
    private func awaitFront() throws(CommandError) {
        var isReported = ProcessState.isIgnored(SIGTTOU)
        while !ProcessState.isInFront(at: device.number) {
            signals.release()
            // The shell reports only that the job has stopped, so this message gives the reason.
            if !isReported, StandardError.isTerminal {
                StandardError.write("vault: Waiting to show a prompt. Run `fg`.\n")
            }
            isReported = true
            // tcdrain only serves to raise SIGTTOU, which stops this process. It fails if no shell can continue it.
            guard tcdrain(device.number) == 0 || errno == EINTR, !ProcessState.isIgnored(SIGTTOU) else {
                throw PromptTerminal.isInBackground
            }
        }
    }

    private func show() {
        // This sequence erases everything from the start of the line to the end of the screen.
        if display == .list, turn.isTaken { SystemCall.writeAll("\r\u{1b}[J", to: device.number) }
        turn.end()
        // Signals that arrived during the prompt take effect here.
        signals.release()
    }
}
