private import Glibc
import LinuxSystem

/// Runs `body` on that many threads at once, with the number of the thread, and waits for all of them.
///
/// These are threads, not tasks: what they do blocks, and there are more of them than cores.
///
/// - Throws: the first error that one of them threw.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let works = (0..<count).map { number in Work { try body(number) } }
    var threads: [pthread_t] = []
    for work in works {
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, { Work.run($0) }, Unmanaged.passUnretained(work).toOpaque())
        guard status == 0 else {
            work.error.withLock { $0 = SystemError(status, "start a thread") }
            break
        }
        threads.append(thread)
    }
    // The threads use `works` until they end.
    for thread in threads { pthread_join(thread, nil) }
    for work in works {
        if let error = work.error.withLock({ $0 }) { throw error }
    }
}

private final class Work: Sendable {
    let error = Mutex<(any Error)?>(nil)
    private let body: @Sendable () throws -> Void

    init(_ body: @escaping @Sendable () throws -> Void) {
        self.body = body
    }

    static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let work = context.map({ Unmanaged<Work>.fromOpaque($0).takeUnretainedValue() }) else { return nil }
        do { try work.body() } catch { work.error.withLock { $0 = error } }
        return nil
    }
}
