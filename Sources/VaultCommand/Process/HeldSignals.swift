import CLinux
import Glibc
import LinuxSystem

/// Signals that take effect only when they are released, so that what must be restored or wiped first is.
///
/// They are blocked for the calling thread: this is for a process with one thread that receives signals.
struct HeldSignals: ~Copyable {
    private let pending: FileDescriptor
    private let signals: SignalSet
    private let former: SignalSet

    /// Readable while one of the signals is pending.
    var descriptor: Int32 { pending.number }

    /// Holds back all signals, except the process's own faults and those that it ignores.
    ///
    /// - Parameters:
    ///   - exceptions: those that take effect as before.
    ///   - problem: begins the error's text.
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

    /// Waits for one of the signals, and takes it: it has no effect. Returns its number.
    func take() -> Int32 {
        var signal = vault_signal()
        while vault_next_signal(pending.number, &signal) != 0 {}
        return signal.number
    }
}
