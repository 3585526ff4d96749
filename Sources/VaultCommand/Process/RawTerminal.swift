import Glibc
import LinuxSystem

/// The user's terminal in raw mode, in which each key is passed on unchanged to another program.
///
/// This process sets raw mode only while it is in the foreground. Otherwise, the terminal belongs to a shell.
final class RawTerminal {
    enum Turn {
        case kept, none
        /// This process has come to the foreground. `first` has the modes from before raw mode, but is nil later.
        case taken(first: termios?)
    }

    private let terminal: Int32
    /// A second descriptor of the terminal, for nonblocking reads. Processes that share the first one need it to block.
    private let own: FileDescriptor
    /// The terminal modes to restore; nil until this process is in the foreground for the first time.
    private var former: termios?
    /// Whether raw mode is set, so that typed keys go to the program.
    private(set) var isInUse = false

    init(_ terminal: Int32) {
        self.terminal = terminal
        // If the terminal belongs to another session, no job of this session reads from it, so it is not opened again.
        let isOfSession = tcgetsid(terminal) == getsid(0)
        own = FileDescriptor(owning: isOfSession ? open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1)
    }

    deinit { end() }

    /// The descriptor from which the user's keystrokes are read while ``isInUse`` is true.
    var keys: Int32 { own.number >= 0 ? own.number : terminal }

    var isInFront: Bool { ProcessState.isInFront(at: terminal) }

    /// Sets raw mode if this process has come to the foreground.
    ///
    /// - Parameter signals: a descriptor that a pending signal makes readable, which ends the wait for other prompts.
    func follow(interruptedBy signals: Int32) -> Turn {
        guard isInFront else {
            isInUse = false
            return .none
        }
        if isInUse { return .kept }
        let isFirst = former == nil
        // Wait until no prompt is shown. Otherwise, a prompt's modes would be saved as those to restore at the end.
        if isFirst { TerminalTurn.pass(at: terminal, interruptedBy: signals) }
        var found = termios()
        guard tcgetattr(terminal, &found) == 0 else { return .none }
        // If the terminal is still in raw mode, no shell has changed its modes while this process was stopped. The
        // modes that were saved earlier are therefore still valid.
        var modes = former.flatMap { found.isRaw ? $0 : nil } ?? found
        former = modes
        cfmakeraw(&modes)
        tcsetattr(terminal, TCSADRAIN, &modes)
        isInUse = true
        return .taken(first: isFirst ? found : nil)
    }

    /// Makes the next ``follow(interruptedBy:)`` set raw mode again, because a shell may have changed the modes while
    /// this process was stopped.
    func forget() { isInUse = false }

    func end() {
        // If another program controls the terminal, the terminal's modes belong to that program and are left alone.
        guard isInUse, isInFront, var modes = former else { return }
        tcsetattr(terminal, TCSADRAIN, &modes)
        isInUse = false
    }
}

extension termios {
    fileprivate var isRaw: Bool { c_lflag & tcflag_t(ECHO | ICANON | ISIG) == 0 && c_oflag & tcflag_t(OPOST) == 0 }
}
