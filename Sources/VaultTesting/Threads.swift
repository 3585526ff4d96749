private import Glibc
import LinuxSystem
private import Vault

/// Runs `body` on that many threads at once, with the number of the thread, and waits for all.
///
/// Threads, not tasks: what they do blocks, and there are more of them than cores.
///
/// - Throws: the first error that one of them threw.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let works = (0..<count).map { ThreadWork($0, body) }
    var threads: [pthread_t] = []
    for work in works {
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, runWork, Unmanaged.passUnretained(work).toOpaque())
        if status != 0 {
            work.fail(VaultError(.unavailable, "The system has no thread left.", systemError: status))
            break
        }
        threads.append(thread)
    }
    // Until all are done they use `works`.
    for thread in threads { pthread_join(thread, nil) }
    for work in works { try work.rethrow() }
}

/// What one thread does, and the error that it met.
private final class ThreadWork: Sendable {
    private let number: Int
    private let body: @Sendable (Int) throws -> Void
    private let error = Mutex<(any Error)?>(nil)

    init(_ number: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
        self.number = number
        self.body = body
    }

    func run() {
        do { try body(number) } catch { fail(error) }
    }

    func fail(_ error: any Error) {
        self.error.withLock { $0 = error }
    }

    func rethrow() throws {
        if let error = error.withLock({ $0 }) { throw error }
    }
}

private func runWork(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let work { Unmanaged<ThreadWork>.fromOpaque(work).takeUnretainedValue().run() }
    return nil
}
