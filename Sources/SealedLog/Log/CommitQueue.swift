import LinuxSystem

final class PendingCommit: Sendable {
    let changes: ChangeList
    let deadline: Deadline
    private let outcome = Mutex<Result<Void, LogError>?>(nil)
    /// It is signalled once the transaction has an outcome, or when its thread becomes the leader.
    private let turn = SystemSemaphore()

    init(_ changes: ChangeList, deadline: Deadline) {
        self.changes = changes
        self.deadline = deadline
    }

    var result: Result<Void, LogError>? { outcome.withLock { $0 } }

    func finish(_ result: Result<Void, LogError>) {
        outcome.withLock { $0 = $0 ?? result }
        turn.signal()
    }

    fileprivate func wait() { turn.wait() }
    fileprivate func lead() { turn.signal() }
}

/// The transactions of several threads that wait to be written, in one record if they fit.
///
/// One thread at a time leads: it writes all waiting transactions, while further ones gather. The other threads sleep
/// until their transaction is written or they become the leader. On a mutex, they would spin for as long as the flush
/// takes.
final class CommitQueue: Sendable {
    private struct State {
        var waiting: [PendingCommit] = []
        var isLed = false
    }

    private let state = Mutex(State())

    /// The number of transactions that wait behind those being written.
    var count: Int { state.withLock { $0.waiting.count } }

    /// Returns when a transaction is written, by this thread or another.
    ///
    /// - Parameter write: writes as many of the transactions as fit in a record, finishes them, and returns the others.
    ///   If it throws, all of them have failed.
    func commit(
        _ pending: PendingCommit, _ write: ([PendingCommit]) throws(LogError) -> ArraySlice<PendingCommit>
    ) throws(LogError) {
        let leads = state.withLock { state in
            state.waiting.append(pending)
            defer { state.isLed = true }
            return !state.isLed
        }
        if !leads { pending.wait() }
        if pending.result == nil { lead(until: pending, write) }
        guard let result = pending.result else { return }
        try result.get()
    }

    private func lead(
        until own: PendingCommit, _ write: ([PendingCommit]) throws(LogError) -> ArraySlice<PendingCommit>
    ) {
        while own.result == nil {
            let batch = state.withLock { exchange(&$0.waiting, with: []) }
            do throws(LogError) {
                let rest = try write(batch)
                state.withLock { $0.waiting.insert(contentsOf: rest, at: 0) }
            } catch {
                for pending in batch { pending.finish(.failure(error)) }
            }
        }
        let next = state.withLock { state in
            state.isLed = !state.waiting.isEmpty
            return state.waiting.first
        }
        next?.lead()
    }
}
