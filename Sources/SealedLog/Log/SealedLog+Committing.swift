private import Glibc
import LinuxSystem
package import Sealing

extension SealedLog {
    /// Seals a value for a transaction; it lies nowhere yet.
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

    /// Makes changes, all or nothing, and returns when they are durable.
    ///
    /// - Throws: `conflict` or `exists` if an expectation does not hold, `invalid`; `busy`, `unavailable` (the old
    ///   state holds), `outcomeUnknown`; what a replaced file may bring.
    package func commit(_ changes: [Change], timeout: Duration) throws(LogError) {
        let pending = PendingCommit(changes, deadline: Deadline(after: timeout))
        queue.withLock { $0.append(pending) }
        writer.withLock { writer in
            // Whoever held the lock before may have written this one along with its own. What one record has no room
            // for is left.
            while pending.result == nil {
                let batch = queue.withLock { waiting in
                    defer { waiting.removeAll() }
                    return waiting
                }
                do throws(LogError) {
                    // Nobody in the batch is to give up before their own time.
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
    /// - Returns: those that it has no room for.
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
            try makeLocationDurable(&writer)
            try append(plan, &writer)
        }
        for pending in batch.dropLast(rest.count) { pending.finish(.success(())) }
        // What was asked for is done; a compaction that fails takes nothing of it back.
        if plan != nil, isTimeToCompact(&writer) { compactIfPossible(&writer, lock) } else { lock.release() }
        return rest
    }

    /// Takes the lock between processes, on the file that lies at the path, with everything read that was appended.
    func lockForWriting(_ writer: inout Writer, until deadline: Deadline) throws(LogError) -> StoreLock {
        guard !writer.isPoisoned else { throw LogError(.outcomeUnknown) }
        while true {
            let store = view.withLock { $0.store }
            if store.isInherited {
                try replaceView(until: deadline)
                continue
            }
            let lock = try store.lock(.exclusive, until: deadline)
            guard try store.isCurrent() else {
                lock.release()
                try replaceView(until: deadline)
                continue
            }
            let seen = seen()
            try view.withLock { (view) throws(LogError) in
                // A head that was seen and then taken back by its writer must not become an ancestor, nor one of an
                // older file.
                if try view.headIsThere(), case .clean = try view.catchUp(), try view.agrees(with: seen) { return }
                view = try view.reopened(on: store, knowing: seen)
            }
            try makeReady(store, &writer)
            if !writer.hasTidied {
                store.removeLeftReplacement()
                writer.hasTidied = true
            }
            return lock
        }
    }

    /// Clears what lies behind the end, and makes the newest record durable if another process wrote it: one that was
    /// killed before its flush leaves a record that is not, and everyone takes the one before the last for durable.
    private func makeReady(_ store: any RecordStore, _ writer: inout Writer) throws(LogError) {
        let (end, newest, needsClearing, isDurable) = view.withLock {
            ($0.end, $0.newestRecord, $0.needsClearing, $0.durable == $0.head)
        }
        guard needsClearing || !isDurable else { return }
        if !isDurable { try store.rewrite(newest) }
        if needsClearing { try store.clear(end..<max(end, store.size())) }
        try flush(store, &writer)
        view.withLock { view in
            view.needsClearing = false
            view.durable = view.head
        }
    }

    static var now: UInt64 { UInt64(max(Clock.realTime, 0)) / 1_000_000 }
}
