import Synchronization

/// How far a long piece of work has come, for other threads to look at.
package final class WorkCounter: Sendable {
    private let doneBytes = Atomic<UInt64>(0)
    private let totalBytes = Atomic<UInt64>(0)

    package init() {}

    /// Bytes that have been worked on.
    package var done: UInt64 { doneBytes.load(ordering: .relaxed) }
    /// Bytes that are to be worked on; 0 before that is known.
    package var total: UInt64 { totalBytes.load(ordering: .relaxed) }

    func begin(_ total: UInt64) {
        totalBytes.store(total, ordering: .relaxed)
    }

    /// Says that it is over; the total was an estimate.
    package func finish() {
        begin(max(total, 1))
        doneBytes.store(total, ordering: .relaxed)
    }

    func advance(by bytes: UInt64) {
        doneBytes.add(bytes, ordering: .relaxed)
    }
}
