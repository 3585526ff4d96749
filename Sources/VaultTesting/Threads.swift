private import Glibc
import LinuxSystem

/// Runs `body` on several threads concurrently, passing it the thread's number, and waits for all of them. All threads
/// start before the first call of `body`, because a short call could otherwise end before the next one begins. Tasks
/// are unsuitable, because the calls block and outnumber the cores. Throws the first error that a thread throws.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let failure = Mutex<(any Error)?>(nil)
    let line = StartLine()
    let works = (0..<count).map { number in
        Work {
            line.wait()
            do { try body(number) } catch { failure.withLock { $0 = $0 ?? error } }
        }
    }
    var threads: [pthread_t] = []
    for work in works {
        var thread = pthread_t()
        let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
            if let context { Unmanaged<Work>.fromOpaque(context).takeUnretainedValue().body() }
            return nil
        }
        let status = pthread_create(&thread, nil, run, Unmanaged.passUnretained(work).toOpaque())
        guard status == 0 else {
            failure.withLock { $0 = $0 ?? SystemError(status, "start a thread") }
            break
        }
        threads.append(thread)
    }
    line.open(for: threads.count)
    // Wait for all threads to end, because they use the elements of `works` without retaining them.
    for thread in threads { pthread_join(thread, nil) }
    withExtendedLifetime(works) {}
    if let error = failure.withLock({ $0 }) { throw error }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// A barrier at which threads wait for each other. They spin, because sleeping threads would wake at different times.
private final class StartLine: Sendable {
    private let waiting = Atomic(0)
    private let isOpen = Atomic(false)

    func wait() {
        waiting.add(1, ordering: .relaxed)
        pause { isOpen.load(ordering: .acquiring) }
    }

    func open(for threads: Int) {
        pause { waiting.load(ordering: .relaxed) == threads }
        isOpen.store(true, ordering: .releasing)
    }

    /// Spins, and yields the core after a while, because other threads or other tests may need the core.
    private func pause(until isOver: () -> Bool) {
        var turns = 0
        while !isOver() {
            turns += 1
            if turns > 2_000 { usleep(20) } else if turns > 1_000 { sched_yield() }
        }
    }
}
