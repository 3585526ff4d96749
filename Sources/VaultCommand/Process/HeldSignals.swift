import CLinux
import Glibc
import LinuxSystem

/// Signals that take effect only when they are released, so that terminals are restored and secrets wiped first.
///
/// They are blocked in the calling thread: use this in a process with only one thread that receives signals.
struct HeldSignals: ~Copyable {
    private let pending: FileDescriptor
    private let signals: SignalSet
    private let former: SignalSet

    /// A descriptor that is readable while one of the signals is pending.
    var descriptor: Int32 { pending.number }

    /// Holds back all signals, except those for faults of the process itself and those that it ignores.
    ///
    /// - Parameters:
    ///   - exceptions: signals that take effect as before.
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

    /// Waits for one of the signals, and consumes it without an effect. Returns its number.
    func take() -> Int32 {
        var signal = vault_signal()
        while vault_next_signal(pending.number, &signal) != 0 {}
        return signal.number
    }
}
