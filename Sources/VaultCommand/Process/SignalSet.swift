import CLinux
import Glibc

/// A set of signals by number, including the two that glibc reserves for itself and leaves out of its own sets.
struct SignalSet {
    /// Signal N is the bit N - 1.
    private(set) var bits: UInt64 = 0

    /// The signals that a program can handle: all but SIGKILL and SIGSTOP, and the processor's signals for faults of
    /// the program itself, which must not be delayed.
    static let catchable = SignalSet(
        (1...64).filter { number in
            ![SIGKILL, SIGSTOP].contains(number)
                && ![SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS].contains(number)
        })

    /// The signals that the kernel sends to all processes of a terminal's foreground job, or to all of a background
    /// job.
    static let ofTerminal = SignalSet([SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH])

    /// The signals that stop a program, unless it handles them.
    static let stopping = SignalSet([SIGTSTP, SIGTTIN, SIGTTOU])

    init(bits: UInt64) { self.bits = bits }

    init(_ numbers: [Int32]) {
        for number in numbers { bits |= 1 << UInt64(number - 1) }
    }

    var numbers: [Int32] { (1...64).filter(contains) }

    func contains(_ number: Int32) -> Bool { bits >> UInt64(number - 1) & 1 == 1 }

    // MARK: Blocking

    /// Blocks these signals in addition to the blocked ones. Returns the set that was blocked before.
    @discardableResult func block() -> SignalSet {
        SignalSet(bits: vault_change_blocked_signals(SIG_BLOCK, bits))
    }

    func unblock() { _ = vault_change_blocked_signals(SIG_UNBLOCK, bits) }

    /// Blocks exactly these signals.
    func blockExactly() { _ = vault_change_blocked_signals(SIG_SETMASK, bits) }
}
