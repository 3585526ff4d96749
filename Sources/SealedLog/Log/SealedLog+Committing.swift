import LinuxSystem
package import Sealing

/// A transaction that waits to be written.
final class PendingCommit: Sendable {
    let changes: [Change]
    let deadline: Deadline
    private let outcome = Mutex<Result<Void, LogError>?>(nil)

    init(_ changes: [Change], deadline: Deadline) {
        self.changes = changes
        self.deadline = deadline
    }

    var result: Result<Void, LogError>? {
        outcome.withLock { $0 }
    }

    func finish(_ result: Result<Void, LogError>) {
        outcome.withLock { $0 = $0 ?? result }
    }
}

extension SealedLog {
    /// Seals a value for a transaction, without writing it.
    ///
    /// - Throws: `invalid` for a value that is too large; `outOfMemory`.
    package func seal(
        _ value: borrowing SecretBytes, kind: UInt8, nonces: inout NonceSource
    ) throws(LogError) -> SealedValue {
        guard value.count <= Limits.valueSize else {
            throw LogError(.invalid, "a value may have at most \(Limits.valueSize >> 20) MiB")
        }
        let nonce = nonces.next()
        var box = [UInt8](repeating: 0, count: StoredVersion.boxLength(of: value.count))
        do throws(SealingError) {
            try value.withPaddedBytes { (value) throws(SealingError) in
                try box.withMutableRawBytes { (box) throws(SealingError) in
                    try keys.seal(value, for: .value, nonce: nonce, into: box)
                }
            }
        } catch { throw LogError(error) }
        return SealedValue(nonce: nonce, length: value.count, box: box, kind: kind)
    }

    /// Makes changes, all or none, and returns when they are durable.
    ///
    /// - Throws: `conflict` or `exists` if an expectation does not hold, `invalid`; `busy`, `unavailable` (nothing was
    ///   changed), `outcomeUnknown`; what a replaced file may bring.
    package func commit(_ changes: [Change], timeout: Duration) throws(LogError) {
        let pending = PendingCommit(changes, deadline: Deadline(after: timeout))
        queue.withLock { $0.append(pending) }
        writer.withLock { writer in
            // The thread that had the lock before may have written this transaction with its own. One record may not
            // have room for all that wait.
            while pending.result == nil {
                let batch = queue.withLock { waiting in
                    defer { waiting.removeAll() }
                    return waiting
                }
                do throws(LogError) {
                    // No transaction of the batch gives up before its own deadline.
                    let rest = try write(batch, &writer, until: batch.map(\.deadline).max() ?? pending.deadline)
                    queue.withLock { $0.insert(contentsOf: rest, at: 0) }
                } catch {
                    for pending in batch { pending.finish(.failure(error)) }
                }
            }
        }
        try (pending.result ?? .failure(LogError(.outcomeUnknown))).get()
    }

    /// Writes one record for all the transactions that can be written.
    ///
    /// - Returns: those for which it has no room.
    private func write(
        _ batch: [PendingCommit], _ writer: inout Writer, until deadline: Deadline
    ) throws(LogError) -> ArraySlice<PendingCommit> {
        let lock = try lockForWriting(&writer, until: deadline)
        let now = SealedLog.now
        var rest = batch[...]
        let plan = try view.withLock { (view) throws(LogError) -> RecordPlan? in
            var gathered = TransactionBatch(totals: try view.currentTotals())
            while let pending = rest.first {
                do throws(LogError) {
                    let isTaken = try gathered.add(pending.changes, now: now) { (name) throws(LogError) in
                        try view.find(name)
                    }
                    guard isTaken else { break }
                } catch {
                    guard [.conflict, .exists, .invalid].contains(error.code) else { throw error }
                    pending.finish(.failure(error))
                }
                rest.removeFirst()
            }
            return gathered.isEmpty ? nil : try view.plan(gathered)
        }
        if let plan {
            try flushName(&writer)
            try append(plan, &writer)
        }
        for pending in batch.dropLast(rest.count) { pending.finish(.success(())) }
        // The transactions are done; a compaction that fails does not undo them.
        if plan != nil, isTimeToCompact(&writer) { compactIfPossible(&writer, lock) } else { lock.release() }
        return rest
    }

    /// Returns whether a compaction is due, and none has failed a short while ago, in this process or in another.
    private func isTimeToCompact(_ writer: inout Writer) -> Bool {
        let (sequence, origin, isDue) = view.withLock {
            ($0.head.sequence, $0.origin.authenticator, $0.isCompactionDue)
        }
        guard isDue, sequence >= writer.compactAfter else { return false }
        guard let upkeep = memory?.upkeep(), upkeep.origin == origin, sequence < upkeep.retryAt else { return true }
        notices.post(.compactionFailed(upkeep.error))
        writer.compactAfter = upkeep.retryAt
        return false
    }
}
