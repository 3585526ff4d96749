import Glibc
import LinuxSystem

/// The user's terminal in raw mode, in which each key is passed on unchanged to another program.
///
/// This process sets the raw mode only while it is in the foreground. Otherwise, the terminal belongs to a shell.
final class RawTerminal {
    enum Turn {
        case kept, none
        /// This process has come to the foreground. The first time, `first` contains the terminal's former modes.
        case taken(first: termios?)
    }

    private let terminal: Int32
    /// The terminal, opened again for nonblocking reads. Processes that share the first descriptor need it to block.
    private let own: FileDescriptor
    /// The modes to restore; nil until this process is in the foreground for the first time.
    private var former: termios?
    /// Whether the raw mode is set, so that typed keys are for the program.
    private(set) var isInUse = false

    init(_ terminal: Int32) {
        self.terminal = terminal
        // A terminal of another session is not opened a second time, because no job of this session reads it.
        let isOfSession = tcgetsid(terminal) == getsid(0)
        own = FileDescriptor(owning: isOfSession ? open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1)
    }

    deinit { end() }

    /// The descriptor from which keys are read while ``isInUse`` is true.
    var keys: Int32 { own.number >= 0 ? own.number : terminal }

    var isInFront: Bool { ProcessState.isInFront(at: terminal) }

    /// Sets the raw mode if this process has come to the foreground.
    ///
    /// - Parameter signals: a descriptor. When it is readable, the wait for other prompts at the terminal ends.
    func follow(interruptedBy signals: Int32) -> Turn {
        guard isInFront else {
            isInUse = false
            return .none
        }
        if isInUse { return .kept }
        let isFirst = former == nil
        // While a prompt is shown, the terminal has the prompt's modes, which must not be restored later.
        if isFirst { TerminalTurn.pass(at: terminal, interruptedBy: signals) }
        var found = termios()
        guard tcgetattr(terminal, &found) == 0 else { return .none }
        // If the modes are still raw, this process was stopped and continued, but no shell has set the modes. The modes
        // that were saved before are therefore valid.
        var modes = former.flatMap { found.isRaw ? $0 : nil } ?? found
        former = modes
        cfmakeraw(&modes)
        tcsetattr(terminal, TCSADRAIN, &modes)
        isInUse = true
        return .taken(first: isFirst ? found : nil)
    }

    /// Makes the next ``follow(interruptedBy:)`` set the raw mode again, because a shell may have changed the modes
    /// while this process was stopped.
    func forget() { isInUse = false }

    func end() {
        // If another program controls the terminal, the modes are that program's, and are left alone.
        guard isInUse, isInFront, var modes = former else { return }
        tcsetattr(terminal, TCSADRAIN, &modes)
        isInUse = false
    }
}

extension termios {
    fileprivate var isRaw: Bool { c_lflag & tcflag_t(ECHO | ICANON | ISIG) == 0 && c_oflag & tcflag_t(OPOST) == 0 }
}
