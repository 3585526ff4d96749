import CLinux
import Glibc
import LinuxSystem

/// The terminal with its echo off. The echo is restored however the process ends: by return, error or signal.
///
/// There is no signal handler: while the echo is off, signals are blocked and polled together with the keyboard. If one
/// is pending, the echo is restored before the signal is unblocked, so that it ends or stops the process as usual. If
/// the process continues, the echo is turned off again.
struct HiddenTerminal: ~Copyable {
    enum Event {
        case byte
        /// No key was pressed in time.
        case pause
        /// The process was stopped, or otherwise interrupted, and continues: show the prompt again.
        case interruption
    }

    private let device: FileDescriptor
    private let pendingSignals: FileDescriptor
    private let signals: sigset_t
    private let formerSignals: sigset_t
    private let formerModes: termios

    var descriptor: Int32 { device.number }

    /// Those of the terminal's own line mode.
    var keys: LineEditor.Keys {
        withUnsafeBytes(of: formerModes.c_cc) { keys in
            LineEditor.Keys(
                erase: keys[Int(VERASE)], eraseWord: keys[Int(VWERASE)], eraseLine: keys[Int(VKILL)],
                literal: keys[Int(VLNEXT)], endOfFile: keys[Int(VEOF)])
        }
    }

    static func open() throws(CommandError) -> HiddenTerminal {
        // In some containers standard input is a terminal, but not the process's controlling one.
        let own = Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        let device = FileDescriptor(owning: own >= 0 ? own : dup(STDIN_FILENO))
        var signals = deliverableSignals()
        let pendingSignals = FileDescriptor(owning: vault_signal_descriptor(&signals))
        var modes = termios()
        guard pendingSignals.number >= 0, tcgetattr(device.number, &modes) == 0 else {
            throw .system("The terminal could not be prepared for hidden input", errno)
        }
        var former = sigset_t()
        sigprocmask(SIG_BLOCK, nil, &former)
        let terminal = HiddenTerminal(
            device: device, pendingSignals: pendingSignals, signals: signals, formerSignals: former, formerModes: modes)
        try terminal.hide()
        return terminal
    }

    deinit { show() }

    /// Waits for a key, with -1 forever, and reads its byte straight into the caller's guarded memory, which has room.
    func next(into free: UnsafeMutableRawBufferPointer, within milliseconds: Int32) throws(CommandError) -> Event {
        var waiting = [
            pollfd(fd: pendingSignals.number, events: Int16(POLLIN), revents: 0),
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

    /// Blocks the signals first: one that arrived in between would leave the echo off.
    private func hide() throws(CommandError) {
        var blocked = signals
        sigprocmask(SIG_BLOCK, &blocked, nil)
        var modes = formerModes
        modes.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON)
        withUnsafeMutableBytes(of: &modes.c_cc) { keys in
            keys[Int(VMIN)] = 1
            keys[Int(VTIME)] = 0
        }
        guard tcsetattr(device.number, TCSAFLUSH, &modes) == 0 else {
            throw .system("The terminal's echo could not be turned off", errno)
        }
    }

    /// Restores the echo. Drops pending input: a paste beyond the value must not reach the shell as a command.
    private func show() {
        var modes = formerModes
        tcsetattr(device.number, TCSAFLUSH, &modes)
        // Now a pending signal takes effect.
        var mask = formerSignals
        sigprocmask(SIG_SETMASK, &mask, nil)
    }

    /// All signals that may end or stop the process, except its own faults and those that it was told to ignore.
    private static func deliverableSignals() -> sigset_t {
        var set = sigset_t()
        sigfillset(&set)
        let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS]
        let harmless = [SIGCHLD, SIGWINCH, SIGURG, SIGTTIN, SIGTTOU]
        for number in faults + harmless + (1..<64).filter(ProcessState.isIgnored) { sigdelset(&set, number) }
        return set
    }
}
