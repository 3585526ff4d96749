import Glibc
import LinuxSystem

/// The person's terminal, which passes on each key as it is while another program reads them.
///
/// All that is only done in the foreground. In the background, the terminal and what is typed there are a shell's.
final class RawTerminal {
    enum Turn {
        case kept, none
        /// This process has come to the foreground, for the first time with the modes that were found.
        case taken(first: termios?)
    }

    private let terminal: Int32
    /// The same terminal, opened anew: reading it never waits. It is opened for this process only, since whoever shares
    /// the other descriptor expects that it waits.
    private let own: FileDescriptor
    /// The modes without this process; nil before it was in front.
    private var former: termios?
    /// Whether the modes are set, and what is typed is the program's.
    private(set) var isInUse = false

    init(_ terminal: Int32) {
        self.terminal = terminal
        // Without a session of its own there are no jobs, and nobody else reads.
        let isOfSession = tcgetsid(terminal) == getsid(0)
        own = FileDescriptor(
            owning: isOfSession ? open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1)
    }

    deinit { end() }

    /// What to read the keys from, while ``isInUse``.
    var keys: Int32 { own.number >= 0 ? own.number : terminal }

    /// Whether the modes and the keys are this process's now.
    var isInFront: Bool { ProcessState.isInFront(at: terminal) }

    /// Sets the modes if this process has come to the foreground.
    ///
    /// - Parameter signals: readable when a signal is to interrupt the wait for others that ask at the terminal.
    func follow(interruptedBy signals: Int32) -> Turn {
        guard isInFront else {
            isInUse = false
            return .none
        }
        if isInUse { return .kept }
        let isFirst = former == nil
        // A prompt that is shown has other modes than those that are to be restored.
        if isFirst { TerminalTurn.pass(at: terminal, interruptedBy: signals) }
        var found = termios()
        guard tcgetattr(terminal, &found) == 0 else { return .none }
        // Nobody else has changed them, if this process was stopped and continued without a shell.
        var modes = former.flatMap { found.isRaw ? $0 : nil } ?? found
        former = modes
        cfmakeraw(&modes)
        tcsetattr(terminal, TCSADRAIN, &modes)
        isInUse = true
        return .taken(first: isFirst ? found : nil)
    }

    /// Makes ``follow(interruptedBy:)`` set the modes again: this process was stopped, and a shell may have changed
    /// them.
    func forget() { isInUse = false }

    /// Restores the modes.
    func end() {
        // Another program's terminal is left to it.
        guard isInUse, isInFront, var modes = former else { return }
        tcsetattr(terminal, TCSADRAIN, &modes)
        isInUse = false
    }
}

extension termios {
    fileprivate var isRaw: Bool { c_lflag & tcflag_t(ECHO | ICANON | ISIG) == 0 && c_oflag & tcflag_t(OPOST) == 0 }
}
