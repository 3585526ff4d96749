import CLinux
import Glibc
import LinuxSystem

/// Signals that take effect only when they are released, so that what must be restored or wiped first is.
///
/// They are blocked for the calling thread: this is for a process with one thread that receives signals.
struct HeldSignals: ~Copyable {
    private let pending: FileDescriptor
    private let signals: sigset_t
    private let former: sigset_t

    /// Readable while one of the signals is pending.
    var descriptor: Int32 { pending.number }

    /// Holds back all signals, except the process's own faults and those that it ignores.
    ///
    /// - Parameters:
    ///   - exceptions: those that take effect as before.
    ///   - problem: begins the error's text.
    init(besides exceptions: [Int32], problem: String) throws(CommandError) {
        var set = sigset_t()
        sigfillset(&set)
        let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS]
        let ignored = (1..<64).filter(ProcessState.isIgnored)
        for number in faults + exceptions + ignored { sigdelset(&set, number) }
        let pending = FileDescriptor(owning: vault_signal_descriptor(&set))
        guard pending.number >= 0 else { throw .system(problem, errno) }
        var former = sigset_t()
        sigprocmask(SIG_BLOCK, &set, &former)
        self.pending = pending
        signals = set
        self.former = former
    }

    deinit { release() }

    func hold() {
        var set = signals
        sigprocmask(SIG_BLOCK, &set, nil)
    }

    func release() {
        var set = former
        sigprocmask(SIG_SETMASK, &set, nil)
    }

    /// Waits for one of the signals, and takes it: it has no effect. Returns its number.
    func take() -> Int32 {
        var set = signals
        var number: Int32 = 0
        while sigwait(&set, &number) != 0 {}
        return number
    }
}
