import Synchronization

/// How far a long call has come: pass it in, and read it from another thread.
public final class UpkeepProgress: Sendable {
    private let doneBytes = Atomic<UInt64>(0)
    /// 0 before it is known.
    private let totalBytes = Atomic<UInt64>(0)

    /// Belongs to a call that has not begun.
    public init() {}

    /// The part that is done, from 0 to 1.
    public var fraction: Double {
        let total = totalBytes.load(ordering: .relaxed)
        return total == 0 ? 0 : min(1, Double(doneBytes.load(ordering: .relaxed)) / Double(total))
    }

    func begin(_ total: UInt64) {
        totalBytes.store(total, ordering: .relaxed)
    }

    func advance(by bytes: UInt64) {
        doneBytes.add(bytes, ordering: .relaxed)
    }

    /// Ends at 1: the total was an estimate.
    package func finish() {
        let total = max(totalBytes.load(ordering: .relaxed), 1)
        begin(total)
        doneBytes.store(total, ordering: .relaxed)
    }
}
