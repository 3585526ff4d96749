import Synchronization

/// Counts what several threads do.
final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    /// - Returns: which one this is; 1 for the first.
    @discardableResult
    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}
