import Glibc
import LinuxSystem

/// The terminal while this process asks there, usually with the echo off. The echo is restored however the process
/// ends: by return, error or signal.
///
/// There is no signal handler: while it asks, signals are held back and polled together with the keyboard. If one is
/// pending, the echo is restored before the signal is released, so that it ends or stops the process as usual. If the
/// process continues, the echo is turned off again. The same happens if other programs get the terminal.
struct PromptTerminal: ~Copyable {
    enum Event {
        case byte
        /// No key was pressed in time.
        case pause
        /// The process was stopped, or otherwise interrupted, and continues: show the prompt again.
        case interruption
    }

    /// What is shown meanwhile.
    enum Display {
        /// A question. Its answer is typed in the terminal's own line mode, and shown.
        case question
        case prompt
        /// Lines from the cursor on, which are erased before the terminal is restored. A change of the terminal's size
        /// is an interruption. Ctrl-C is a key, and no signal.
        case list
    }

    /// So often is looked, in milliseconds, whether other programs have got the terminal.
    private static let glance: Int32 = 100

    private let device: FileDescriptor
    private let signals: HeldSignals
    private let turn: TerminalTurn
    private let display: Display

    var descriptor: Int32 { device.number }

    /// Whether another process has asked here before it was this one's turn.
    var hasWaited: Bool { turn.hasWaited }

    /// Those of the terminal's own line mode.
    var keys: LineEditor.Keys {
        withUnsafeBytes(of: turn.modes.c_cc) { keys in
            LineEditor.Keys(
                erase: keys[Int(VERASE)], eraseWord: keys[Int(VWERASE)], eraseLine: keys[Int(VKILL)],
                literal: keys[Int(VLNEXT)], endOfFile: keys[Int(VEOF)])
        }
    }

    static func open(for display: Display = .prompt) throws(CommandError) -> PromptTerminal {
        // In some containers standard input is a terminal, but not the process's controlling one.
        let own = Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        let device = FileDescriptor(owning: own >= 0 ? own : dup(STDIN_FILENO))
        var modes = termios()
        guard tcgetattr(device.number, &modes) == 0 else { throw .system(PromptTerminal.isUnusable, errno) }
        // With SIGTTOU held back, the echo can be restored also if other programs have the terminal.
        let signals = try HeldSignals(
            besides: [SIGCHLD, SIGURG] + (display == .list ? [] : [SIGWINCH]), problem: PromptTerminal.isUnusable)
        let turn = TerminalTurn(at: device.number)
        let terminal = PromptTerminal(device: device, signals: signals, turn: turn, display: display)
        try terminal.hide()
        return terminal
    }

    private static let isUnusable = "The terminal could not be prepared for hidden input"

    /// The terminal is other programs', and nothing can give it back: as in `diff <(vault get a) <(vault get b)`.
    static let isInBackground = CommandError(
        code: "locked", exit: .locked,
        message: "The terminal is another program's, so that nothing can be asked here. Run `vault unlock` first, "
            + "or the command by itself.")

    deinit { show() }

    /// Waits for a key, with -1 forever, and reads its byte straight into the caller's guarded memory, which has room.
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
        // The terminal is gone.
        if count == 0 { throw .system(problem, EIO) }
        return .byte
    }

    /// Waits for the terminal and for the turn at it. Holds the signals back first: one that arrived in between would
    /// leave the echo off.
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
            if display != .question { (keys[Int(VMIN)], keys[Int(VTIME)]) = (1, 0) }
            // 0 is no key.
            if display == .list { keys[Int(VINTR)] = 0 }
        }
        // What was typed before the list appeared is meant for it.
        try turn.set(modes, dropping: display != .list)
    }

    /// Lets the system stop this process as long as it is in the background, as it stops any that reads there.
    private func awaitFront() throws(CommandError) {
        var isTold = ProcessState.isIgnored(SIGTTOU)
        while !ProcessState.isInFront(at: device.number) {
            signals.release()
            // The shell says only that the job is stopped.
            if !isTold, StandardError.isTerminal {
                StandardError.write("vault: Waiting to ask in the foreground. Run `fg`.\n")
            }
            isTold = true
            // Of all calls, this one changes nothing. It fails where nobody could continue the process.
            guard tcdrain(device.number) == 0 || errno == EINTR, !ProcessState.isIgnored(SIGTTOU) else {
                throw PromptTerminal.isInBackground
            }
        }
    }

    private func show() {
        // From the start of the line to the end of the screen.
        if display == .list, turn.isTaken { SystemCall.writeAll("\r\u{1b}[J", to: device.number) }
        turn.end()
        // Now a pending signal takes effect.
        signals.release()
    }
}
