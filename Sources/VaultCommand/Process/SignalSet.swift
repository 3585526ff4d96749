import CLinux
import Glibc

/// Signals by their numbers, also the two that glibc keeps to itself and its own sets leave out.
struct SignalSet {
    /// Signal N is the bit N - 1.
    private(set) var bits: UInt64 = 0

    /// Those that a program can do something about: all but SIGKILL and SIGSTOP, which nobody can, and those by which
    /// the processor tells a program of its own fault, which must not wait.
    static let catchable = SignalSet(
        (1...64).filter { number in
            ![SIGKILL, SIGSTOP].contains(number)
                && ![SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS].contains(number)
        })

    /// Those that the kernel sends to all of a terminal's processes in front, or to all of a job that is not in front.
    static let ofTerminal = SignalSet([SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH])

    /// Those that stop a program, unless it handles them.
    static let stopping = SignalSet([SIGTSTP, SIGTTIN, SIGTTOU])

    init(bits: UInt64) { self.bits = bits }

    init(_ numbers: [Int32]) {
        for number in numbers { bits |= 1 << UInt64(number - 1) }
    }

    var numbers: [Int32] { (1...64).filter(contains) }

    func contains(_ number: Int32) -> Bool { bits >> UInt64(number - 1) & 1 == 1 }

    // MARK: Those that are blocked

    /// Blocks them besides those that are blocked, which are returned.
    @discardableResult func block() -> SignalSet {
        SignalSet(bits: vault_change_blocked_signals(SIG_BLOCK, bits))
    }

    func unblock() { _ = vault_change_blocked_signals(SIG_UNBLOCK, bits) }

    /// Blocks these and no others.
    func blockExactly() { _ = vault_change_blocked_signals(SIG_SETMASK, bits) }
}
