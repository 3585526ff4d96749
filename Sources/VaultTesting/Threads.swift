private import Glibc
import LinuxSystem

/// Runs `body` on that many threads at once, with the number of the thread, and waits for all of them. Tasks would not
/// do: the bodies block, and there are more of them than cores.
///
/// - Throws: the first error that one of them threw.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let failure = Mutex<(any Error)?>(nil)
    let works = (0..<count).map { number in
        Work { do { try body(number) } catch { failure.withLock { $0 = $0 ?? error } } }
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
    // The threads use `works` until they end.
    for thread in threads { pthread_join(thread, nil) }
    withExtendedLifetime(works) {}
    if let error = failure.withLock({ $0 }) { throw error }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
