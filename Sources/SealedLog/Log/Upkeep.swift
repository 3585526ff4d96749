private import Glibc
import LinuxSystem

extension SealedLog {
    /// Returns whether a compaction is due. After a recent failure, in this process or another one, it is not tried
    /// again yet.
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

    /// Compacts if a compaction is due. A failure is posted as a notice and fails no transaction.
    func compactIfDue() {
        guard writer.withLock({ isCompactionDue(&$0) }) else { return }
        do throws(LogError) { try compactOnce() } catch {
            // Another process compacts or has compacted, or the disk is busy. Each check takes the lock, and there may
            // be many.
            let isLeft = [.busy, .conflict, .overtaken, .unreachable].contains(error.code)
            let retryAt = isLeft ? nextTry() : rememberFailure(error).retryAt
            writer.withLock { $0.compactAfter = retryAt }
            if !isLeft { notices.post(.compactionFailed(error)) }
        }
    }

    /// Returns the sequence number from which on a compaction that has failed now is tried again.
    func nextTry() -> UInt64 {
        view.withLock { $0.head.sequence } + UInt64(Limits.recordsBeforeMinorCheckpoint.upperBound)
    }

    /// Waits for a compaction that was due after a change, or runs it. Call this before the program ends.
    package func finishUpkeep() {
        upkeep.wait()
        if !upkeep.isAutomatic { compactIfDue() }
        completeCopy()
    }

    /// Reads some of the bytes that are missing in the copy that this machine keeps of a database.
    package func completeCopy() { view.withLock { $0.store }.machineCopy?.complete() }
}

/// Runs the work that is due after a change, one task at a time, on a thread of its own. The process does not exit
/// before the task ends, since short-lived programs would otherwise never finish one.
final class Upkeep: Sendable {
    private struct State {
        /// The process whose thread it is. A child process has no such thread.
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

    /// Returns whether the work was left to the thread that made it due. This happens in a child process, in which the
    /// standard library's mutexes do not admit a second thread.
    func takeLeft() -> Bool { isLeft.exchange(false, ordering: .relaxed) }

    /// Starts the work. It does nothing if the work is running, or if no thread can be started: the next change tries
    /// again.
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

    // MARK: At the end of the process

    private static let known = Mutex<[(upkeep: Upkeep, process: pid_t)]>([])
    /// Registers the handler once, at its first use.
    private static let registration = atexit {
        // A child process has no such thread.
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
