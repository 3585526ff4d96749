import CLinux
import Glibc

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
        /// The terminal is gone.
        case end
        /// The process was stopped, or otherwise interrupted, and continues: show the prompt again.
        case interruption
    }

    let descriptor: Int32
    let keys: LineEditor.Keys
    private let signalDescriptor: Int32
    private let signals: sigset_t
    private let formerSignals: sigset_t
    private let formerModes: termios

    /// Opens the process's terminal and turns its echo off.
    static func open() throws(CommandError) -> HiddenTerminal {
        // In some containers standard input is a terminal, but not the process's controlling one.
        let own = Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        let descriptor = own >= 0 ? own : dup(STDIN_FILENO)
        var signals = deliverableSignals()
        let signalDescriptor = vault_signal_descriptor(&signals)
        var modes = termios()
        guard signalDescriptor >= 0, tcgetattr(descriptor, &modes) == 0 else {
            let number = errno
            close(descriptor)
            close(signalDescriptor)
            throw .system("The terminal could not be prepared for hidden input", number)
        }
        var former = sigset_t()
        sigprocmask(SIG_BLOCK, nil, &former)
        let terminal = HiddenTerminal(
            descriptor: descriptor, keys: LineEditor.Keys(terminal: modes), signalDescriptor: signalDescriptor,
            signals: signals, formerSignals: former, formerModes: modes)
        try terminal.hide()
        return terminal
    }

    deinit {
        show()
        close(signalDescriptor)
        close(descriptor)
    }

    /// Waits for a key, with -1 forever, and reads its byte straight into the caller's guarded memory.
    func next(to byte: UnsafeMutableRawPointer, within milliseconds: Int32) throws(CommandError) -> Event {
        var waiting = [
            pollfd(fd: signalDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let (ready, error) = SystemCall.retrying { Int(poll(&waiting, 2, milliseconds)) }
        guard let ready else { throw .system("The terminal could not be read", error) }
        if ready == 0 { return .pause }
        if waiting[0].revents != 0 {
            show()
            try hide()
            return .interruption
        }
        let (count, readError) = SystemCall.retrying { read(descriptor, byte, 1) }
        guard let count else { throw .system("The terminal could not be read", readError) }
        return count == 0 ? .end : .byte
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
        guard tcsetattr(descriptor, TCSAFLUSH, &modes) == 0 else {
            throw .system("The terminal's echo could not be turned off", errno)
        }
    }

    /// Restores the echo. Drops pending input: a paste beyond the value must not reach the shell as a command.
    private func show() {
        var modes = formerModes
        tcsetattr(descriptor, TCSAFLUSH, &modes)
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

extension LineEditor.Keys {
    /// Creates the keys from those of the terminal's own line mode.
    init(terminal modes: termios) {
        self = withUnsafeBytes(of: modes.c_cc) { keys in
            Self(
                erase: keys[Int(VERASE)], eraseWord: keys[Int(VWERASE)], eraseLine: keys[Int(VKILL)],
                literal: keys[Int(VLNEXT)], endOfFile: keys[Int(VEOF)])
        }
    }
}
