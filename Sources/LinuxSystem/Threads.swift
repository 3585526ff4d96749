private import CLinux
private import Glibc

/// Runs a blocking call on a separate pool of threads. Swift's own pool has only one thread per core, so a few calls
/// that wait for a file's lock would block all other tasks.
package func onBlockingThread<Result: Sendable, Failure: Error>(
    _ body: @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    // With an executor preference, `body` runs in the current task, with its task-local values and priority.
    try await withTaskExecutorPreference(BlockingThreads.shared) { () async throws(Failure) in
        try await offActor(body)
    }
}

/// Runs `body` outside the caller's actor. Otherwise, it would run on the actor's executor instead of in the pool.
@concurrent
private func offActor<Result: Sendable, Failure: Error>(
    _ body: @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result { try body() }

/// A pool of a few threads, which start on demand and end when they are idle.
private final class BlockingThreads: TaskExecutor {
    static let shared = BlockingThreads()

    /// The maximum number of threads. Most calls wait for the same locks, so more threads would not finish them sooner.
    private static let maximumCount = 8
    /// How long to keep an idle thread. Starting a thread costs more than a short call.
    private static let secondsOfIdleness = 1

    private struct State {
        /// The waiting jobs, newest first, so the last one runs next.
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
            // If no thread can be started, the next job runs on the global executor, and blocks one of its threads. If
            // this pool has no other thread, all waiting jobs run there.
            let jobs = state.withLock { state in
                state.threads -= 1
                let count = state.threads == 0 ? state.jobs.count : min(state.jobs.count, 1)
                defer { state.jobs.removeLast(count) }
                return state.jobs.suffix(count)
            }
            for job in jobs.reversed() { globalConcurrentExecutor.enqueue(job) }
        }
    }

    private func run() { while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) } }

    /// Waits for a job. Returns nil if no job arrived in time; the thread then ends.
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
                // If `idle` is 0, `enqueue` has already claimed this thread for a new job and signaled the semaphore.
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

/// Runs `body` on a new, detached thread. All signals are blocked on it, so that handlers run on the program's own
/// threads. Tools such as ps show `name`, which has at most 15 bytes. Throws if a system limit is reached.
package func startDetachedThread(named name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    // The stack's size is 512 KiB, but only the part that is actually used takes up memory.
    pthread_attr_setstacksize(&attributes, 512 << 10)

    var all = sigset_t()
    var former = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &former)
    defer { pthread_sigmask(SIG_SETMASK, &former, nil) }

    let work = Unmanaged.passRetained(
        Work {
            vault_name_thread(name)
            body()
        })
    var thread = pthread_t()
    let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
        return nil
    }
    let error = pthread_create(&thread, &attributes, run, work.toOpaque())
    guard error != 0 else { return }
    work.release()
    throw SystemError(error, "start a thread for")
}

private final class Work {
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }
}

/// A system semaphore, initially zero. A waiting thread sleeps immediately, whereas the standard mutex spins first.
///
/// It can safely be Sendable, because the pointer never changes, and semaphores are thread-safe (sem_overview(7)).
package final class SystemSemaphore: @unchecked Sendable {
    private let handle = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    package init() { sem_init(handle, 0, 0) }

    deinit {
        sem_destroy(handle)
        handle.deallocate()
    }

    package func signal() { sem_post(handle) }

    package func wait() { while sem_wait(handle) != 0 {} }

    /// Waits until ``signal()`` is called. Returns false if time is up or a handled signal interrupts the wait.
    package func wait(seconds: Int) -> Bool {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        deadline.tv_sec += seconds
        return sem_timedwait(handle, &deadline) == 0
    }
}
