import Glibc
import LinuxSystem

/// The user's terminal, which passes on each key unchanged to another program.
///
/// This happens only in the foreground. In the background, the terminal and its input belong to a shell.
final class RawTerminal {
    enum Turn {
        case kept, none
        /// This process has come to the foreground; `first` is set the first time, to the modes that the terminal had.
        case taken(first: termios?)
    }

    private let terminal: Int32
    /// The same terminal, opened again so that reads never block. Only this process has this descriptor: processes that
    /// share the other one expect it to block.
    private let own: FileDescriptor
    /// The modes without this process; nil before it was first in the foreground.
    private var former: termios?
    /// Whether the modes are set, and the input belongs to the program.
    private(set) var isInUse = false

    init(_ terminal: Int32) {
        self.terminal = terminal
        // In another session there are no jobs of this one, and no other process reads the terminal.
        let isOfSession = tcgetsid(terminal) == getsid(0)
        own = FileDescriptor(owning: isOfSession ? open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1)
    }

    deinit { end() }

    /// The descriptor from which keys are read, while ``isInUse``.
    var keys: Int32 { own.number >= 0 ? own.number : terminal }

    var isInFront: Bool { ProcessState.isInFront(at: terminal) }

    /// Sets the modes if this process has come to the foreground.
    ///
    /// - Parameter signals: a descriptor; if it becomes readable, the wait for other prompts at the terminal ends.
    func follow(interruptedBy signals: Int32) -> Turn {
        guard isInFront else {
            isInUse = false
            return .none
        }
        if isInUse { return .kept }
        let isFirst = former == nil
        // A visible prompt has other modes than the ones to restore later.
        if isFirst { TerminalTurn.pass(at: terminal, interruptedBy: signals) }
        var found = termios()
        guard tcgetattr(terminal, &found) == 0 else { return .none }
        // If the modes are still raw, this process was stopped and continued without a shell, so the earlier modes are
        // valid.
        var modes = former.flatMap { found.isRaw ? $0 : nil } ?? found
        former = modes
        cfmakeraw(&modes)
        tcsetattr(terminal, TCSADRAIN, &modes)
        isInUse = true
        return .taken(first: isFirst ? found : nil)
    }

    /// Makes the next ``follow(interruptedBy:)`` set the modes again: this process was stopped, and a shell may have
    /// changed them.
    func forget() { isInUse = false }

    func end() {
        // If another program controls the terminal, its modes are left alone.
        guard isInUse, isInFront, var modes = former else { return }
        tcsetattr(terminal, TCSADRAIN, &modes)
        isInUse = false
    }
}

extension termios {
    fileprivate var isRaw: Bool { c_lflag & tcflag_t(ECHO | ICANON | ISIG) == 0 && c_oflag & tcflag_t(OPOST) == 0 }
}
