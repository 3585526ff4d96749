import Glibc
import LinuxSystem

/// The turn to ask at a terminal, where one process of all asks at a time, and the terminal's modes, which only the one
/// whose turn it is reads and changes.
///
/// The turn is a lock on the terminal's device, which the kernel releases with its process. If others wait at the end
/// of a turn, the echo stays off for them: what is typed too early is not shown. While the echo is off, the terminal's
/// modes say themselves what they were, so that the next one restores them if a process was killed.
final class TerminalTurn {
    enum Outcome {
        case taken
        /// A signal that is held back is pending, or other programs have the terminal.
        case interrupted
    }

    /// After so many attempts, a person is told what the command waits for.
    private static let attemptsUntilNotice = 100
    private static let pause: Int32 = 20

    private let terminal: Int32
    private let lock: TurnLock?
    /// Those that the terminal has while nobody asks.
    private(set) var modes = termios()
    /// Whether another process has asked in the meantime.
    private(set) var hasWaited = false
    private(set) var isTaken = false

    /// - Parameter terminal: a descriptor that stays open as long as this.
    init(at terminal: Int32) {
        self.terminal = terminal
        lock = TerminalTurn.kept.withLock(\.lock) ?? TurnLock(of: terminal)
    }

    deinit { end() }

    /// Waits for the turn, and takes it.
    ///
    /// - Parameter signals: readable while a signal is held back.
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
                if attempts == TerminalTurn.attemptsUntilNotice { tellOfWaiting() }
            }
            lock.withdraw()
        }
        isTaken = true
        var found = termios()
        guard tcgetattr(terminal, &found) == 0 else { throw .system("The terminal's modes cannot be read", errno) }
        modes = ModesBeforePrompt.of(found) ?? found
        return .taken
    }

    /// Sets the terminal's modes. Those of a prompt say what they were before.
    func set(_ prompt: termios, dropping isDropping: Bool) throws(CommandError) {
        let isHidden = prompt.c_lflag & tcflag_t(ECHO | ICANON) == 0
        var prompt = isHidden ? ModesBeforePrompt.mark(prompt, with: modes) : prompt
        guard tcsetattr(terminal, isDropping ? TCSAFLUSH : TCSADRAIN, &prompt) == 0 else {
            throw .system("The terminal's modes cannot be changed", errno)
        }
    }

    /// Ends the turn: the echo is on again, unless others wait for theirs. Drops pending input: a paste beyond the
    /// value must not reach the shell as a command.
    func end(dropping isDropping: Bool = true) {
        guard isTaken else { return }
        isTaken = false
        if isDropping { tcflush(terminal, TCIFLUSH) }
        guard let lock else { return restore(modes) }
        let isAwaited = lock.isAwaited
        if isAwaited { hide() } else { restore(modes) }
        guard !TerminalTurn.keep(lock) else { return }
        lock.release()
        // Those who waited may have ended meanwhile.
        if isAwaited, !lock.isAwaited { restoreUnlessAwaited() }
    }

    /// Waits until nobody asks at a terminal, and leaves it as it is without prompts. Where nobody has asked, what is
    /// typed ahead is meant for what comes next.
    static func pass(at terminal: Int32, interruptedBy signals: Int32 = -1) {
        let turn = TerminalTurn(at: terminal)
        if (try? turn.begin(interruptedBy: signals)) == .taken { turn.end(dropping: turn.hasWaited) }
    }

    // MARK: Until the answer has had its effect

    private static let kept = Mutex<(isWanted: Bool, lock: TurnLock?)>((false, nil))

    /// Runs a command whose effect makes the questions of those who wait needless: after what was typed here, it is
    /// their turn only at its end.
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
        // Those who waited may have ended meanwhile.
        if !lock.isAwaited { TerminalTurn(at: device.number).restoreUnlessAwaited() }
    }

    // MARK: Modes

    /// Turns the echo off for the next one, if it is on.
    private func hide() {
        var found = termios()
        guard tcgetattr(terminal, &found) == 0, ModesBeforePrompt.of(found) == nil else { return }
        var hidden = found
        hidden.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON)
        hidden = ModesBeforePrompt.mark(hidden, with: found)
        tcsetattr(terminal, TCSADRAIN, &hidden)
    }

    /// Restores the modes, unless somebody else has changed them since a prompt did.
    ///
    /// - Parameter known: what this process has found; otherwise the terminal's modes say what they were.
    private func restore(_ known: termios? = nil) {
        var found = termios()
        guard tcgetattr(terminal, &found) == 0, let former = ModesBeforePrompt.of(found) else { return }
        var modes = known ?? former
        tcsetattr(terminal, TCSAFLUSH, &modes)
    }

    /// Restores the modes if nobody's turn has begun, and nobody waits for one. Whoever has the lock meanwhile does it.
    private func restoreUnlessAwaited() {
        while let lock, lock.tryTake() {
            let isAwaited = lock.isAwaited
            if !isAwaited { restore() }
            lock.release()
            if !isAwaited || lock.isAwaited { return }
        }
    }

    /// Where nothing is typed without echo, a prompt that waits would be a riddle: the process that has its turn may be
    /// stopped.
    private func tellOfWaiting() {
        var found = termios()
        guard tcgetattr(terminal, &found) == 0, found.c_lflag & tcflag_t(ECHO) != 0,
            found.c_lflag & tcflag_t(ICANON) != 0
        else { return }
        SystemCall.writeAll("vault: Waiting for another command that asks at this terminal.\n", to: terminal)
    }
}
