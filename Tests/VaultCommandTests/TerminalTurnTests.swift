import CLinux
import Glibc
import LinuxSystem
import Testing

@testable import VaultCommand

@Suite struct TerminalTurnTests {
    /// A terminal of the test's own.
    private final class TestTerminal: Sendable {
        private let outer: FileDescriptor
        private let inner: FileDescriptor

        var descriptor: Int32 { inner.number }

        init() throws {
            var path = [CChar](repeating: 0, count: 128)
            outer = FileDescriptor(owning: vault_open_terminal(&path, UInt64(path.count)))
            inner = FileDescriptor(owning: open(path, O_RDWR | O_NOCTTY | O_CLOEXEC))
            try #require(inner.number >= 0)
        }

        var modes: termios {
            var modes = termios()
            tcgetattr(descriptor, &modes)
            return modes
        }

        var isHidden: Bool { modes.c_lflag & tcflag_t(ECHO | ICANON) == 0 }

        func isAsBefore(_ before: termios) -> Bool {
            withUnsafeBytes(of: before) { before in withUnsafeBytes(of: modes) { $0.elementsEqual(before) } }
        }
    }

    private func hide(_ turn: TerminalTurn) throws {
        var modes = turn.modes
        modes.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON)
        try turn.set(modes, dropping: true)
    }

    /// Readable at once, as where a signal is pending.
    private func pending() throws -> FileDescriptor {
        let event = FileDescriptor(owning: vault_event_descriptor())
        var one: UInt64 = 1
        try #require(write(event.number, &one, 8) == 8)
        return event
    }

    @Test func oneAsksAtATime() throws {
        let terminal = try TestTerminal()
        let first = TerminalTurn(at: terminal.descriptor)
        let second = TerminalTurn(at: terminal.descriptor)
        let before = terminal.modes
        #expect(try first.begin(interruptedBy: -1) == .taken && !first.hasWaited)
        try hide(first)
        #expect(terminal.isHidden)
        let signal = try pending()
        #expect(try second.begin(interruptedBy: signal.number) == .interrupted && second.hasWaited)
        #expect(terminal.isHidden, "the one whose turn it is asks on")
        first.end()
        #expect(terminal.isAsBefore(before))
        #expect(try second.begin(interruptedBy: -1) == .taken)
        second.end()
        #expect(terminal.isAsBefore(before))
    }

    @Test(.timeLimit(.minutes(10))) func theEchoStaysOffForTheNextOneAndIsOnAfterTheLast() async throws {
        let terminal = try TestTerminal()
        let before = terminal.modes
        let first = TerminalTurn(at: terminal.descriptor)
        #expect(try first.begin(interruptedBy: -1) == .taken)
        try hide(first)
        let isHiddenBetween = Task.detached {
            let second = TerminalTurn(at: terminal.descriptor)
            guard try second.begin(interruptedBy: -1) == .taken else { return false }
            let isHidden = terminal.isHidden
            second.end()
            return isHidden
        }
        let lock = try #require(TurnLock(of: terminal.descriptor))
        while !lock.isAwaited { try await Task.sleep(for: .milliseconds(5)) }
        first.end()
        #expect(try await isHiddenBetween.value)
        #expect(terminal.isAsBefore(before))
    }

    @Test func anotherTerminalsTurnIsItsOwn() throws {
        let terminals = try (TestTerminal(), TestTerminal())
        let turns = (TerminalTurn(at: terminals.0.descriptor), TerminalTurn(at: terminals.1.descriptor))
        let signal = try pending()
        #expect(try turns.0.begin(interruptedBy: signal.number) == .taken)
        #expect(try turns.1.begin(interruptedBy: signal.number) == .taken && !turns.1.hasWaited)
    }

    @Test func modesThatSomebodyElseHasSetStay() throws {
        let terminal = try TestTerminal()
        let turn = TerminalTurn(at: terminal.descriptor)
        #expect(try turn.begin(interruptedBy: -1) == .taken)
        try hide(turn)
        var others = terminal.modes
        others.c_lflag |= tcflag_t(ECHO)
        others.c_oflag ^= tcflag_t(ONLCR)
        tcsetattr(terminal.descriptor, TCSANOW, &others)
        turn.end()
        #expect(terminal.isAsBefore(others))
    }
}

@Suite struct SignalSetTests {
    @Test func allCanBeCaughtButTheFaultsAndTwo() {
        let others = [SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS]
        #expect(SignalSet.catchable.numbers == (1...64).filter { !others.contains($0) })
        #expect(
            [SIGALRM, SIGPWR, SIGIO, SIGWINCH, SIGTTIN, SIGTTOU, SIGURG, 32, 34, 64].allSatisfy(
                SignalSet.catchable.contains))
        #expect(!SignalSet.catchable.contains(SIGKILL) && SignalSet([1, 64]).bits == 1 << 63 | 1)
    }

    @Test func whatGlibcKeepsToItselfIsBlockedToo() {
        let former = SignalSet.catchable.block()
        defer { former.blockExactly() }
        let blocked = SignalSet([]).block()
        #expect(SignalSet.catchable.numbers.allSatisfy(blocked.contains))
    }
}
