import Glibc
import Synchronization

/// Real threads: tasks would share one thread a core, and a set that waits for the disk blocks its thread.
enum Threads {
    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    /// Runs `body` on `count` threads at once, or right here if it is one; throws the first error of any.
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        if count == 1 { return try body(0) }
        let failure = Failure()
        let threads = try (0..<count).map { index in
            try start(
                Work {
                    do { try body(index) } catch { failure.keep(error) }
                })
        }
        for thread in threads { pthread_join(thread, nil) }
        if let error = failure.first { throw error }
    }

    private static func start(_ work: Work) throws -> pthread_t {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(work)
        let status = pthread_create(&thread, nil, enter, context.toOpaque())
        guard status == 0 else {
            context.release()
            throw BenchmarkError(description: "cannot start a thread: errno \(status)")
        }
        return thread
    }

    private static let enter: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
        return nil
    }

    /// The first error that a thread met.
    private final class Failure: Sendable {
        private let error = Mutex<(any Error)?>(nil)

        var first: (any Error)? { error.withLock { $0 } }

        func keep(_ new: any Error) {
            error.withLock { $0 = $0 ?? new }
        }
    }
}
