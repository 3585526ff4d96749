/// Runs what blocks on threads of its own: the tasks of the process share one thread per core, and a few that wait for
/// a file's lock there stop all the others.
///
/// - Throws: what `body` throws.
package func onBlockingThread<Result: Sendable, Failure: Error>(
    _ body: @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    // As a task's preference, not as another task: it keeps its task-local values and its priority.
    try await withTaskExecutorPreference(BlockingThreads.shared) { () async throws(Failure) in
        try await offActor(body)
    }
}

/// Leaves the caller's actor, which would not follow the task's preference.
@concurrent
private func offActor<Result: Sendable, Failure: Error>(
    _ body: @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result { try body() }

/// A few threads that start when they are needed, and end when they are not.
private final class BlockingThreads: TaskExecutor {
    static let shared = BlockingThreads()

    /// Most calls wait for the same locks: more threads would not finish more of them.
    private static let maximumCount = 8
    /// Starting a thread costs more than a short call.
    private static let secondsOfIdleness = 1

    private struct State {
        /// In the order in which they run, the next one last.
        var jobs: [UnownedJob] = []
        var threads = 0
        var idle = 0
    }

    private let state = Mutex(State())
    private let work = SystemSemaphore()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isThreadMissing = state.withLock { state in
            state.jobs.insert(job, at: 0)
            guard state.idle == 0 else {
                state.idle -= 1
                work.signal()
                return false
            }
            guard state.threads < BlockingThreads.maximumCount else { return false }
            state.threads += 1
            return true
        }
        guard isThreadMissing else { return }
        do { try startDetachedThread(named: "vault blocking") { self.run() } } catch {
            // Without a thread, jobs block one of the others: late is better than never. The last one that fails to
            // start leaves none for later.
            let jobs = state.withLock { state in
                state.threads -= 1
                let count = state.threads == 0 ? state.jobs.count : min(state.jobs.count, 1)
                defer { state.jobs.removeLast(count) }
                return state.jobs.suffix(count)
            }
            for job in jobs.reversed() { globalConcurrentExecutor.enqueue(job) }
        }
    }

    private func run() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Waits for a job; nil if there was none for a while: the thread then ends.
    private func next() -> UnownedJob? {
        while true {
            let job = state.withLock { state in
                let job = state.jobs.popLast()
                if job == nil { state.idle += 1 }
                return job
            }
            if let job { return job }
            if work.wait(seconds: BlockingThreads.secondsOfIdleness) { continue }
            let isOver = state.withLock { state in
                // If none is idle any more, a job came at the last moment, with a signal for this thread.
                guard state.idle > 0 else { return false }
                state.idle -= 1
                state.threads -= 1
                return true
            }
            if isOver { return nil }
            work.wait()
        }
    }
}
