import LinuxSystem

final class PendingCommit: Sendable {
    let changes: ChangeList
    let deadline: Deadline
    private let outcome = Mutex<Result<Void, LogError>?>(nil)
    /// A semaphore that the queue signals when the transaction has a result or its thread becomes the queue's leader.
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

/// A queue of transactions from several threads. One record stores as many of them as fit.
///
/// One thread at a time is the leader, which writes all waiting transactions. Meanwhile, every other thread adds its
/// transaction to the queue, and sleeps until the transaction is written or the thread becomes the leader. Threads do
/// not wait for a mutex, because that would make them spin during the whole flush.
final class CommitQueue: Sendable {
    private struct State {
        var waiting: [PendingCommit] = []
        var isLed = false
    }

    private let state = Mutex(State())

    /// The number of waiting transactions, excluding those that are being written.
    var count: Int { state.withLock { $0.waiting.count } }

    /// Waits until this thread or the leader has written the transaction. Throws the error if the write fails.
    ///
    /// - Parameter write: writes as many transactions as fit in a record, finishes them, and returns the rest. If
    ///   `write` throws, all unfinished transactions fail with that error.
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
