import Glibc
import LinuxSystem

/// The user's terminal in raw mode, in which each key is passed on unchanged to another program.
///
/// The mode is set only in the foreground. In the background, the terminal and its input belong to a shell.
final class RawTerminal {
    enum Turn {
        case kept, none
        /// This process has come to the foreground. The first time, `first` is set to the terminal's former modes.
        case taken(first: termios?)
    }

    private let terminal: Int32
    /// The same terminal, opened again so that reads never block. Only this process has this descriptor, because
    /// processes that share the other one expect it to block.
    private let own: FileDescriptor
    /// The terminal's modes without this process; nil until it is in the foreground for the first time.
    private var former: termios?
    /// Whether the raw mode is set, so that the input is for the program.
    private(set) var isInUse = false

    init(_ terminal: Int32) {
        self.terminal = terminal
        // No job of this session reads a terminal of another session, so such a terminal is not opened again.
        let isOfSession = tcgetsid(terminal) == getsid(0)
        own = FileDescriptor(owning: isOfSession ? open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1)
    }

    deinit { end() }

    /// The descriptor from which keys are read, while ``isInUse``.
    var keys: Int32 { own.number >= 0 ? own.number : terminal }

    var isInFront: Bool { ProcessState.isInFront(at: terminal) }

    /// Sets the modes if this process has come to the foreground.
    ///
    /// - Parameter signals: a descriptor that ends the wait for other prompts at the terminal when it becomes readable.
    func follow(interruptedBy signals: Int32) -> Turn {
        guard isInFront else {
            isInUse = false
            return .none
        }
        if isInUse { return .kept }
        let isFirst = former == nil
        // While a prompt is shown, the terminal's modes are not the ones to restore later.
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

    /// Makes the next ``follow(interruptedBy:)`` set the modes again, because a shell may have changed them while this
    /// process was stopped.
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
