import CLinux
import Glibc

/// The terminal with its echo off. However the process ends, by return, error or signal, the echo is back before.
///
/// No signal handler runs: while the echo is off, signals are blocked and waited for beside the keyboard. When one is
/// pending, the echo is restored first and the signal let through after, so that it does what it always does: it ends
/// or stops the process. Once the process goes on, the echo is turned off again.
struct HiddenTerminal: ~Copyable {
    enum Event {
        case byte
        /// No key came in the time that was given.
        case pause
        /// The terminal is gone.
        case end
        /// The process was stopped, or otherwise disturbed, and goes on: the prompt is to be shown again.
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
        // Where a terminal was handed in that is not the process's own (some containers), standard input serves.
        let own = Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        let descriptor = own >= 0 ? own : dup(STDIN_FILENO)
        var signals = deliverableSignals()
        let signalDescriptor = vault_signal_descriptor(&signals)
        var modes = termios()
        guard signalDescriptor >= 0, tcgetattr(descriptor, &modes) == 0 else {
            let number = errno
            close(descriptor)
            close(signalDescriptor)
            throw .system("The terminal could not be prepared for a hidden entry", number)
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

    /// Waits for a key and reads its byte to the given place: the secret lies nowhere but in the caller's memory.
    ///
    /// - Parameter milliseconds: how long to wait; -1 is for ever.
    func next(to place: UnsafeMutableRawPointer, within milliseconds: Int32) throws(CommandError) -> Event {
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
        let (count, readError) = SystemCall.retrying { read(descriptor, place, 1) }
        guard let count else { throw .system("The terminal could not be read", readError) }
        return count == 0 ? .end : .byte
    }

    /// Signals first: one that came between would leave the echo off.
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

    /// What was pasted beyond the entry is dropped with the change: it must not reach the shell as a command.
    private func show() {
        var modes = formerModes
        tcsetattr(descriptor, TCSAFLUSH, &modes)
        // Now a pending signal takes effect.
        var mask = formerSignals
        sigprocmask(SIG_SETMASK, &mask, nil)
    }

    /// Every signal that may end or stop the process, but for faults of its own and for those it was told to ignore.
    private static func deliverableSignals() -> sigset_t {
        var set = sigset_t()
        sigfillset(&set)
        let others =
            [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS]
            + [SIGCHLD, SIGWINCH, SIGURG, SIGTTIN, SIGTTOU]
        for number in others { sigdelset(&set, number) }
        for number in 1..<64 {
            var action = sigaction()
            if sigaction(Int32(number), nil, &action) == 0, action.isIgnored { sigdelset(&set, Int32(number)) }
        }
        return set
    }
}

extension LineEditor.Keys {
    /// The keys that the terminal has for its own line mode.
    init(terminal modes: termios) {
        self = withUnsafeBytes(of: modes.c_cc) { keys in
            Self(
                erase: keys[Int(VERASE)], eraseWord: keys[Int(VWERASE)], eraseLine: keys[Int(VKILL)],
                literal: keys[Int(VLNEXT)], endOfFile: keys[Int(VEOF)])
        }
    }
}
