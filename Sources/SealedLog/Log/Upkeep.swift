private import Glibc
import LinuxSystem

extension SealedLog {
    /// Returns whether a compaction is due. After a failure in any process, the next attempt is postponed.
    func isCompactionDue(_ writer: inout Writer) -> Bool {
        let (head, origin, isDue) = view.withLock { ($0.head, $0.origin.authenticator, $0.isCompactionDue) }
        guard isDue, head.sequence >= writer.compactAfter else { return false }
        if let failed = memory?.upkeep(), failed.origin == origin, head.sequence < failed.retryAt {
            notices.post(.compactionFailed(failed.error))
            writer.compactAfter = failed.retryAt
            return false
        }
        return true
    }

    /// Compacts the vault if due. Posts a lasting failure as a notice, ignores others, and never fails the transaction.
    func compactIfDue() {
        guard writer.withLock({ isCompactionDue(&$0) }) else { return }
        do throws(LogError) { try compactOnce() } catch {
            // A temporary error, such as another process compacting the vault, is not posted as a notice. It still
            // postpones the next attempt to compact the vault, since each attempt acquires the lock.
            let isLeft = [.busy, .conflict, .overtaken, .unreachable].contains(error.code)
            let retryAt = isLeft ? nextTry() : rememberFailure(error).retryAt
            writer.withLock { $0.compactAfter = retryAt }
            if !isLeft { notices.post(.compactionFailed(error)) }
        }
    }

    /// Returns the sequence number that the log must reach before a compaction that has just failed is tried again.
    func nextTry() -> UInt64 {
        view.withLock { $0.head.sequence } + UInt64(Limits.recordsBeforeMinorCheckpoint.upperBound)
    }

    /// Waits for a running compaction. If compactions are not automatic, runs one if due. Call this before exiting.
    package func finishUpkeep() {
        upkeep.wait()
        if !upkeep.isAutomatic { compactIfDue() }
        completeCopy()
    }

    /// Reads the next batch of bytes that this machine's copy of a database lacks, unless too many are missing.
    package func completeCopy() { view.withLock { $0.store }.machineCopy?.complete() }
}

/// A runner for the work that is due after a change. It runs one task at a time, on a separate thread. The process does
/// not exit before the task ends, because short-lived programs would otherwise never finish a task.
final class Upkeep: Sendable {
    private struct State {
        /// The ID of the process in which the thread runs; nil if none runs. A child process does not inherit threads.
        var runner: pid_t?
        var waiting: [SystemSemaphore] = []

        var isRunning: Bool { runner != nil && runner == getpid() }
    }

    let isAutomatic: Bool
    private let state = Mutex(State())
    private let process: pid_t
    private let isLeft = Atomic(false)

    init(isAutomatic: Bool) {
        self.isAutomatic = isAutomatic
        process = isAutomatic ? getpid() : 0
    }

    /// Returns whether ``start(_:)`` has left its work to the caller since the last call of this method. It does so if
    /// ``isAutomatic`` is false, and in a child process, where the standard library's mutexes support no second thread.
    func takeLeft() -> Bool { isLeft.exchange(false, ordering: .relaxed) }

    /// Starts the work on a thread. Does nothing if the work is already running. Ignores a failure to start the thread,
    /// since the next change tries again.
    func start(_ body: @escaping @Sendable () -> Void) {
        guard getpid() == process else { return isLeft.store(true, ordering: .relaxed) }
        let isFirst = state.withLock { state in
            guard !state.isRunning else { return false }
            state.runner = getpid()
            return true
        }
        guard isFirst else { return }
        Upkeep.waitAtExit(for: self)
        do {
            try startDetachedThread(named: "vault upkeep") {
                body()
                self.end()
            }
        } catch { end() }
    }

    private func end() {
        let waiting = state.withLock { state in
            state.runner = nil
            return exchange(&state.waiting, with: [])
        }
        for semaphore in waiting { semaphore.signal() }
    }

    func wait() {
        let semaphore = state.withLock { state in
            guard state.isRunning else { return SystemSemaphore?.none }
            let semaphore = SystemSemaphore()
            state.waiting.append(semaphore)
            return semaphore
        }
        semaphore?.wait()
    }

    private static let known = Mutex<[(upkeep: Upkeep, process: pid_t)]>([])
    /// Registers the exit handler, which waits for running tasks. This happens once, on first use.
    private static let registration = atexit {
        // A child process does not inherit its parent's threads, so it must not wait for them.
        for known in Upkeep.known.withLock({ $0 }) where known.process == getpid() { known.upkeep.wait() }
    }

    private static func waitAtExit(for upkeep: Upkeep) {
        known.withLock { known in
            known.removeAll { !$0.upkeep.state.withLock { $0.isRunning } }
            known.append((upkeep, getpid()))
        }
        _ = registration
    }
}
