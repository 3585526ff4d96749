import CLinux
import Glibc
import LinuxSystem

/// A set of signals by number. It can contain the two signals that glibc reserves and omits from its own sets.
struct SignalSet {
    /// The set as a bit mask, in which bit N - 1 represents signal N.
    private(set) var bits: UInt64 = 0

    /// The signals whose delivery can be delayed. SIGKILL and SIGSTOP cannot be blocked, and signals that report a
    /// fault of the program itself must not be delayed.
    static let catchable = SignalSet(
        (1...64).filter { number in
            ![SIGKILL, SIGSTOP].contains(number)
                && ![SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS].contains(number)
        })

    /// The signals that the kernel sends to every process in a terminal's foreground or background job.
    static let ofTerminal = SignalSet([SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH])

    /// The signals that stop a program if it does not handle them.
    static let stopping = SignalSet([SIGTSTP, SIGTTIN, SIGTTOU])

    init(bits: UInt64) { self.bits = bits }

    init(_ numbers: [Int32]) { for number in numbers { bits |= 1 << UInt64(number - 1) } }

    var numbers: [Int32] { (1...64).filter(contains) }
    func contains(_ number: Int32) -> Bool { bits >> UInt64(number - 1) & 1 == 1 }

    /// Blocks this set's signals, in addition to those already blocked. Returns the set that was blocked before.
    @discardableResult func block() -> SignalSet { SignalSet(bits: vault_change_blocked_signals(SIG_BLOCK, bits)) }
    func unblock() { _ = vault_change_blocked_signals(SIG_UNBLOCK, bits) }

    func blockExactly() { _ = vault_change_blocked_signals(SIG_SETMASK, bits) }
}

/// Signals that stay blocked until they are released, so that terminals are restored and secrets are wiped first.
///
/// Only the calling thread blocks them. Other threads must block all signals, or the kernel may deliver one to them.
struct HeldSignals: ~Copyable {
    private let pending: FileDescriptor
    private let signals: SignalSet
    private let former: SignalSet

    /// A descriptor that is readable while one of the blocked signals is pending.
    var descriptor: Int32 { pending.number }

    /// Blocks all signals except `exceptions`, those for faults of the process itself, and those that it ignores.
    ///
    /// - Parameters:
    ///   - exceptions: the signals that this call does not block.
    ///   - problem: the beginning of the error message.
    init(besides exceptions: [Int32], problem: String) throws(CommandError) {
        signals = SignalSet(
            SignalSet.catchable.numbers.filter { !exceptions.contains($0) && !ProcessState.isIgnored($0) })
        let pending = FileDescriptor(owning: vault_signal_descriptor(signals.bits))
        guard pending.number >= 0 else { throw .system(problem, errno) }
        self.pending = pending
        former = signals.block()
    }

    deinit { release() }

    func hold() { signals.block() }
    func release() { former.blockExactly() }

    /// Waits until one of the blocked signals is pending. Consumes it without its usual effect, and returns its number.
    func take() -> Int32 {
        var signal = vault_signal()
        while vault_next_signal(pending.number, &signal) != 0 {}
        return signal.number
    }
}
