import Glibc
import LinuxSystem
import TestSupport
import Testing
import VaultTesting

@testable import SealedFormat
@testable import SealedLog

/// Without a log: what is written is a list. The thread sanitizer runs this too.
@Suite("Concurrent commits in a queue", .timeLimit(.minutes(5)))
final class CommitQueueConcurrencyTests: Sendable {
    private typealias Write = @Sendable (Int, [PendingCommit]) throws(LogError) -> ArraySlice<PendingCommit>

    private let queue = CommitQueue()
    private let batches = Mutex<[[PendingCommit]]>([])

    /// Commits on threads of their own. The first leads; when it has begun to write, the others come, and when they all
    /// wait, it goes on. The late ones come when the second batch is being written, which waits for them too.
    ///
    /// - Parameter write: gets the batch's number. By default all of a batch has room.
    /// - Returns: the codes of their errors.
    private func commit(
        _ count: Int, late: Int = 0,
        _ write: @escaping Write = { (_, batch) throws(LogError) in
            for pending in batch { pending.finish(.success(())) }
            return []
        }
    ) throws -> [LogError.Code?] {
        let codes = Mutex([LogError.Code?](repeating: nil, count: count))
        let begun = [Flag(), Flag()]
        try onThreads(count) { [self] thread in
            let isLate = thread >= count - late
            if thread > 0 { while !begun[isLate ? 1 : 0].isSet { sched_yield() } }
            let code = try LogError.code {
                let pending = PendingCommit(ChangeList(), deadline: Deadline(after: .zero))
                try queue.commit(pending) { (batch) throws(LogError) in
                    let number = batches.withLock { batches in
                        batches.append(batch)
                        return batches.count - 1
                    }
                    if number < begun.count {
                        begun[number].set()
                        while queue.count < (number == 0 ? count - 1 - late : late) { sched_yield() }
                    }
                    return try write(number, batch)
                }
            }
            codes.withLock { $0[thread] = code }
        }
        return codes.withLock { $0 }
    }

    private var sizes: [Int] { batches.withLock { $0.map(\.count) } }

    @Test func areWrittenTogetherOnceTheirLeaderIsDone() throws {
        #expect(try commit(6) == Array(repeating: nil, count: 6))
        #expect(sizes == [1, 5])
        // Nothing is left of it.
        #expect(queue.count == 0)
        #expect(try commit(1) == [nil])
    }

    @Test func ofABatchThatFailsAreAllToldAndTheNextOneGoesOn() throws {
        let codes = try commit(6, late: 2) { (number, batch) throws(LogError) in
            guard number != 1 else { throw LogError(.unavailable) }
            for pending in batch { pending.finish(.success(())) }
            return []
        }
        #expect(codes == [nil, .unavailable, .unavailable, .unavailable, nil, nil])
        #expect(sizes == [1, 3, 2])
        #expect(try commit(1) == [nil])
    }

    @Test func areWrittenThoughTheirLeadersOwnFailed() throws {
        let codes = try commit(4) { (number, batch) throws(LogError) in
            guard number != 0 else { throw LogError(.busy) }
            for pending in batch { pending.finish(.success(())) }
            return []
        }
        #expect(codes == [.busy, nil, nil, nil])
        #expect(sizes == [1, 3])
    }

    @Test func withoutRoomAreWrittenBeforeThoseThatCameLater() throws {
        let codes = try commit(8, late: 2) { (_, batch) throws(LogError) in
            for pending in batch.prefix(2) { pending.finish(.success(())) }
            return batch.dropFirst(2)
        }
        #expect(codes == Array(repeating: nil, count: 8))
        #expect(sizes == [1, 5, 5, 3, 1])
        let batches = batches.withLock { $0 }
        for (former, next) in zip(batches[1...], batches[2...]) {
            let rest = former.dropFirst(2)
            #expect(next.prefix(rest.count).map(ObjectIdentifier.init) == rest.map(ObjectIdentifier.init))
        }
    }

    /// One whose expectation does not hold stays refused, whatever becomes of the record of the others.
    @Test(arguments: [true, false]) func thatWereRefusedStaySo(_ isWritten: Bool) throws {
        let codes = try commit(1) { (_, batch) throws(LogError) in
            batch[0].finish(.failure(LogError(.exists)))
            guard isWritten else { throw LogError(.unavailable) }
            batch[0].finish(.success(()))
            return []
        }
        #expect(codes == [.exists])
    }
}
