import Glibc
import LinuxSystem

/// The terminal with its echo off. The echo is restored however the process ends: by return, error or signal.
///
/// There is no signal handler: while the echo is off, signals are held back and polled together with the keyboard. If
/// one is pending, the echo is restored before the signal is released, so that it ends or stops the process as usual.
/// If the process continues, the echo is turned off again.
struct HiddenTerminal: ~Copyable {
    enum Event {
        case byte
        /// No key was pressed in time.
        case pause
        /// The process was stopped, or otherwise interrupted, and continues: show the prompt again.
        case interruption
    }

    /// What is shown while the echo is off.
    enum Display {
        case prompt
        /// Lines from the cursor on, which are erased before the terminal is restored. A change of the terminal's size
        /// is an interruption. Ctrl-C is a key, and no signal.
        case list
    }

    private let device: FileDescriptor
    private let signals: HeldSignals
    private let formerModes: termios
    private let display: Display

    var descriptor: Int32 { device.number }

    /// Those of the terminal's own line mode.
    var keys: LineEditor.Keys {
        withUnsafeBytes(of: formerModes.c_cc) { keys in
            LineEditor.Keys(
                erase: keys[Int(VERASE)], eraseWord: keys[Int(VWERASE)], eraseLine: keys[Int(VKILL)],
                literal: keys[Int(VLNEXT)], endOfFile: keys[Int(VEOF)])
        }
    }

    static func open(for display: Display = .prompt) throws(CommandError) -> HiddenTerminal {
        // In some containers standard input is a terminal, but not the process's controlling one.
        let own = Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        let device = FileDescriptor(owning: own >= 0 ? own : dup(STDIN_FILENO))
        var modes = termios()
        guard tcgetattr(device.number, &modes) == 0 else { throw .system(HiddenTerminal.isUnusable, errno) }
        let signals = try HeldSignals(
            besides: [SIGCHLD, SIGURG, SIGTTIN, SIGTTOU] + (display == .list ? [] : [SIGWINCH]),
            problem: HiddenTerminal.isUnusable)
        let terminal = HiddenTerminal(device: device, signals: signals, formerModes: modes, display: display)
        try terminal.hide()
        return terminal
    }

    private static let isUnusable = "The terminal could not be prepared for hidden input"

    deinit { show() }

    /// Waits for a key, with -1 forever, and reads its byte straight into the caller's guarded memory, which has room.
    func next(into free: UnsafeMutableRawBufferPointer, within milliseconds: Int32) throws(CommandError) -> Event {
        var waiting = [
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: device.number, events: Int16(POLLIN), revents: 0),
        ]
        let problem = "The terminal could not be read"
        if try SystemCall.retrying(problem, { poll(&waiting, 2, milliseconds) }) == 0 { return .pause }
        if waiting[0].revents != 0 {
            show()
            try hide()
            return .interruption
        }
        let count = try SystemCall.retrying(problem) { read(device.number, free.baseAddress, min(1, free.count)) }
        // The terminal is gone.
        if count == 0 { throw .system(problem, EIO) }
        return .byte
    }

    /// Holds the signals back first: one that arrived in between would leave the echo off.
    private func hide() throws(CommandError) {
        signals.hold()
        var modes = formerModes
        modes.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON)
        withUnsafeMutableBytes(of: &modes.c_cc) { keys in
            keys[Int(VMIN)] = 1
            keys[Int(VTIME)] = 0
            // 0 is no key.
            if display == .list { keys[Int(VINTR)] = 0 }
        }
        // What was typed before the list appeared is meant for it.
        guard tcsetattr(device.number, display == .list ? TCSADRAIN : TCSAFLUSH, &modes) == 0 else {
            throw .system("The terminal's echo could not be turned off", errno)
        }
    }

    /// Restores the echo. Drops pending input: a paste beyond the value must not reach the shell as a command.
    private func show() {
        // From the start of the line to the end of the screen.
        if display == .list { SystemCall.writeAll("\r\u{1b}[J", to: device.number) }
        var modes = formerModes
        tcsetattr(device.number, TCSAFLUSH, &modes)
        // Now a pending signal takes effect.
        signals.release()
    }
}
