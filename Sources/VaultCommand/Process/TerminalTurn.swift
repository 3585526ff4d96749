import Glibc
import LinuxSystem

/// A process's turn to show a prompt on a terminal. Only one process has the turn at a time, and only that process
/// reads and changes the terminal's modes.
///
/// The turn is a lock on the terminal's device, which the kernel releases when the process exits. If other processes
/// are waiting when a turn ends, the echo stays off, so that input typed too early is not shown. While it is off,
/// unused control characters of the terminal hold the earlier modes. If this process is killed, the next restores them.
final class TerminalTurn {
    enum Outcome {
        case taken
        /// The wait ended early: a blocked signal is pending, or other programs control the terminal.
        case interrupted
    }

    /// The number of failed retries after which this process reports that it is waiting for its turn.
    private static let attemptsUntilNotice = 100
    private static let pause: Int32 = 20

    private let terminal: Int32
    private let lock: TurnLock?
    /// The terminal's modes while no prompt is shown.
    private(set) var modes = termios()
    /// Whether this process had to wait because it was another process's turn to prompt.
    private(set) var hasWaited = false
    private(set) var isTaken = false

    /// - Parameter terminal: a descriptor that must stay open during this object's lifetime.
    init(at terminal: Int32) {
        self.terminal = terminal
        lock = TerminalTurn.kept.withLock(\.lock) ?? TurnLock(of: terminal)
    }

    deinit { end() }

    /// Waits for this process's turn to prompt, and takes it.
    ///
    /// - Parameter signals: a descriptor that is readable while a blocked signal is pending.
    func begin(interruptedBy signals: Int32) throws(CommandError) -> Outcome {
        if let lock, !lock.tryTake() {
            hasWaited = true
            lock.announce()
            var attempts = 0
            while !lock.tryTake() {
                var waiting = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
                guard poll(&waiting, 1, TerminalTurn.pause) == 0, ProcessState.isInFront(at: terminal) else {
                    lock.withdraw()
                    restoreUnlessAwaited()
                    return .interrupted
                }
                attempts += 1
                if attempts == TerminalTurn.attemptsUntilNotice { reportWaiting() }
            }
            lock.withdraw()
        }
        isTaken = true
        var found = termios()
        guard tcgetattr(terminal, &found) == 0 else { throw .system("The terminal's modes cannot be read", errno) }
        modes = ModesBeforePrompt.of(found) ?? found
        return .taken
    }

    /// Sets a prompt's modes. If these turn the echo off, unused control characters of the terminal keep the old ones.
    func set(_ prompt: termios, dropping isDropping: Bool) throws(CommandError) {
        let isHidden = prompt.c_lflag & tcflag_t(ECHO | ICANON) == 0
        var prompt = isHidden ? ModesBeforePrompt.mark(prompt, with: modes) : prompt
        guard tcsetattr(terminal, isDropping ? TCSAFLUSH : TCSADRAIN, &prompt) == 0 else {
            throw .system("The terminal's modes cannot be changed", errno)
        }
    }

    /// Ends this process's turn to prompt, and turns echo back on if no other process is waiting. By default, discards
    /// pending input: if the user pasted more than the value, the shell must not run the rest as a command.
    func end(dropping isDropping: Bool = true) {
        guard isTaken else { return }
        isTaken = false
        if isDropping { tcflush(terminal, TCIFLUSH) }
        guard let lock else { return restore(modes) }
        let isAwaited = lock.isAwaited
        if isAwaited { hide() } else { restore(modes) }
        guard !TerminalTurn.keep(lock) else { return }
        lock.release()
        // If the processes that awaited their turn have exited, this process must restore the terminal's modes.
        if isAwaited, !lock.isAwaited { restoreUnlessAwaited() }
    }

    /// Waits until no prompt is shown on the terminal, and restores the modes from before the prompt. If no prompt was
    /// shown, keeps the input that the user has already typed, because it is meant for the program that follows.
    static func pass(at terminal: Int32, interruptedBy signals: Int32 = -1) {
        let turn = TerminalTurn(at: terminal)
        if (try? turn.begin(interruptedBy: signals)) == .taken { turn.end(dropping: turn.hasWaited) }
    }

    private static let kept = Mutex<(isWanted: Bool, lock: TurnLock?)>((false, nil))

    /// Runs `body`. If it shows a prompt, waiting processes get their turn only after `body` has ended, because its
    /// result may make their prompts unnecessary.
    static func untilEnd<Result>(of body: () throws -> Result) rethrows -> Result {
        kept.withLock { $0.isWanted = true }
        defer { releaseKept() }
        return try body()
    }

    private static func keep(_ lock: TurnLock) -> Bool {
        kept.withLock { kept in
            if kept.isWanted { kept.lock = lock }
            return kept.isWanted
        }
    }

    private static func releaseKept() {
        let lock = kept.withLock { kept in
            defer { kept = (false, nil) }
            return kept.lock
        }
        let device = FileDescriptor(owning: open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY))
        guard let lock else { return }
        lock.release()
        // If the processes that awaited their turn have exited, this process must restore the terminal's modes.
        if !lock.isAwaited { TerminalTurn(at: device.number).restoreUnlessAwaited() }
    }

    /// Turns the echo off if it is on, so that nothing typed before the next waiting process's prompt is shown.
    private func hide() {
        var found = termios()
        guard tcgetattr(terminal, &found) == 0, ModesBeforePrompt.of(found) == nil else { return }
        var hidden = found
        hidden.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON)
        hidden = ModesBeforePrompt.mark(hidden, with: found)
        tcsetattr(terminal, TCSADRAIN, &hidden)
    }

    /// Restores the modes from before the prompt, unless another program has changed them in the meantime.
    ///
    /// - Parameter known: the modes from before the prompt; nil to read them from the terminal.
    private func restore(_ known: termios? = nil) {
        var found = termios()
        guard tcgetattr(terminal, &found) == 0, let former = ModesBeforePrompt.of(found) else { return }
        var modes = known ?? former
        tcsetattr(terminal, TCSAFLUSH, &modes)
    }

    /// Restores the modes if no process has or awaits a turn. A process that gets a turn in the meantime restores them.
    private func restoreUnlessAwaited() {
        while let lock, lock.tryTake() {
            let isAwaited = lock.isAwaited
            if !isAwaited { restore() }
            lock.release()
            if !isAwaited || lock.isAwaited { return }
        }
    }

    /// Reports that this process is waiting for another command's prompt, unless a prompt is visible. If the prompting
    /// process is stopped, users could not otherwise tell why nothing happens.
    private func reportWaiting() {
        var found = termios()
        guard tcgetattr(terminal, &found) == 0, found.c_lflag & tcflag_t(ECHO) != 0,
            found.c_lflag & tcflag_t(ICANON) != 0
        else { return }
        SystemCall.writeAll("vault: Waiting for another command's prompt at this terminal.\n", to: terminal)
    }
}
