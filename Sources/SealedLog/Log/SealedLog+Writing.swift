import LinuxSystem
package import Sealing

extension SealedLog {
    /// Seals a value for a transaction, without writing it.
    package func seal(
        _ value: borrowing SecretBytes, kind: UInt8, nonces: inout NonceSource
    ) throws(LogError) -> SealedValue {
        guard value.count <= Limits.valueSize else {
            throw LogError(.invalid, "a value may have at most \(Limits.valueSize >> 20) MiB")
        }
        return try SealedValue(value, kind: kind, nonce: nonces.next(), under: keys)
    }

    /// Makes changes, all or none, and returns when they are durable.
    ///
    /// - Throws: `conflict` or `exists` if an expectation does not hold, `invalid`; `busy`, `unavailable` (nothing was
    ///   changed), `outcomeUnknown`; what a replaced file may bring.
    package func commit(_ changes: ChangeList, timeout: Duration) throws(LogError) {
        try queue.commit(PendingCommit(changes, deadline: Deadline(after: timeout))) { batch throws(LogError) in
            try writer.withLock { (writer) throws(LogError) in
                // No transaction of the batch gives up before its own deadline.
                let deadline = batch.map(\.deadline).max() ?? Deadline(after: timeout)
                return try write(batch, &writer, until: deadline)
            }
        }
        if upkeep.takeLeft() { compactIfDue() }
    }

    /// Writes one record for the transactions. Returns those for which it has no room.
    private func write(
        _ batch: [PendingCommit], _ writer: inout Writer, until deadline: Deadline
    ) throws(LogError) -> ArraySlice<PendingCommit> {
        let lock = try lockForWriting(&writer, until: deadline)
        var rest = batch[...]
        let plan = try plan(&rest, &writer)
        if let plan {
            try flushName(&writer)
            try append(plan, &writer)
        }
        lock.release()
        for pending in batch.dropLast(rest.count) { pending.finish(.success(())) }
        if plan != nil, upkeep.isAutomatic, isCompactionDue(&writer) { upkeep.start { self.compactIfDue() } }
        return rest
    }

    /// Flushes everything that can be read now, and the name of the file.
    ///
    /// - Throws: `busy`, `unavailable`; `outcomeUnknown` after a write with that error; what a replaced file may bring.
    package func makeDurable(timeout: Duration) throws(LogError) {
        try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: Deadline(after: timeout))
            try flushName(&writer)
            lock.release()
        }
    }

    // MARK: Before a record

    /// Takes the lock between processes, on the file that is at the path, and reads everything that was appended.
    func lockForWriting(_ writer: inout Writer, until deadline: Deadline) throws(LogError) -> StoreLock {
        guard !writer.isPoisoned else { throw LogError(.outcomeUnknown) }
        while true {
            let store = view.withLock { $0.store }
            if !store.isInherited {
                let lock = try store.lock(.exclusive, until: deadline)
                if try store.isCurrent() {
                    try makeReady(store, &writer)
                    return lock
                }
                lock.release()
            }
            try replaceView(until: deadline)
        }
    }

    /// Reads everything that was appended, clears what is behind the end, and flushes the newest record again if
    /// another process wrote it: that process may have died before fdatasync, and once a record follows it, readers
    /// regard it as durable.
    private func makeReady(_ store: any RecordStore, _ writer: inout Writer) throws(LogError) {
        let remembered = remembered()
        try view.withLock { (view) throws(LogError) in
            // The new record must not follow a head that its writer took back, nor one of an older file.
            if try view.headIsThere(), try view.catchUp(),
                try view.alarm(against: remembered?.position(of: view)) == nil
            {
                return
            }
            view.replace(by: try view.reopened(on: store, knowing: remembered))
        }
        let (keys, end, newest, needsClearing, isDurable) = view.withLock {
            ($0.keys, $0.end, $0.newestRecord, $0.needsClearing, $0.durable == $0.head)
        }
        adopt(keys)
        if !isDurable { try store.rewrite(newest) }
        if needsClearing { try store.clear(end..<max(end, store.size())) }
        if needsClearing || !isDurable {
            try flush(store, &writer)
            view.withLock { ($0.needsClearing, $0.durable) = (false, $0.head) }
        }
        if !writer.hasTidied { try? store.removeLeftReplacement() }
        writer.hasTidied = true
    }

    /// Flushes what is in the file before this process writes to it.
    ///
    /// - Throws: `outcomeUnknown`, and nothing more is written: another process's record may or may not last.
    private func flush(_ store: any RecordStore, _ writer: inout Writer) throws(LogError) {
        do throws(LogError) { try store.synchronize() } catch {
            writer.isPoisoned = true
            throw error.ofUnknownOutcome
        }
    }

    /// Flushes the file's name, which has to be on the disk before the first acknowledgement.
    func flushName(_ writer: inout Writer) throws(LogError) {
        let (store, file) = view.withLock { ($0.store, $0.file) }
        guard writer.durableFile != file else { return }
        writer.rememberedFingerprint = try flushName(of: store, file, unless: writer.rememberedFingerprint)
        writer.durableFile = file
    }

    /// Flushes the name of a file and remembers that, unless its fingerprint is `known`. Returns the fingerprint.
    func flushName(
        of store: any RecordStore, _ file: CheckpointFile, unless known: Authenticator?
    ) throws(LogError) -> Authenticator? {
        // Taken before the flush, which does not cover later changes.
        let fingerprint = memory?.fingerprint(of: file)
        guard fingerprint == nil || fingerprint != known else { return fingerprint }
        try store.synchronizeLocation()
        memory?.rememberPath(durable: fingerprint)
        return fingerprint
    }

    // MARK: The record

    /// Plans the record for the first transactions, as many as it has room for, and removes them from the list; nil if
    /// they change nothing.
    private func plan(
        _ rest: inout ArraySlice<PendingCommit>, _ writer: inout Writer
    ) throws(LogError) -> RecordPlan? {
        let now = Clock.milliseconds
        let (batch, plan) = try view.withLock { (view) throws(LogError) -> (TransactionBatch, RecordPlan?) in
            var batch = TransactionBatch(totals: try view.currentTotals())
            let circumstances = Circumstances(now: now, sequence: view.head.sequence + 1, history: view.header.history)
            while let pending = rest.first {
                do throws(LogError) {
                    let changes = try pending.changes.sealed(under: view.keys)
                    let isTaken = try batch.add(changes, circumstances) { (name) throws(LogError) in
                        try view.find(name)
                    }
                    guard isTaken else { break }
                } catch {
                    guard [.conflict, .exists, .invalid].contains(error.code) else { throw error }
                    pending.finish(.failure(error))
                }
                rest.removeFirst()
            }
            return (batch, batch.isEmpty ? nil : try view.shortPlan(batch))
        }
        return if batch.isEmpty || plan != nil { plan } else { try treePlan(batch, &writer) }
    }

    /// Plans a record with a tree. Of a large one, the payload is written on the way: nobody follows the log to it
    /// before its head is there.
    private func treePlan(_ batch: TransactionBatch, _ writer: inout Writer) throws(LogError) -> RecordPlan {
        // A copy: others may read meanwhile.
        let view = view.withLock { $0 }
        let store = view.store
        try clearRemains(from: view.end, in: store, size: store.size(), &writer)
        do throws(LogError) { return try view.treePlan(batch, into: store) } catch {
            self.view.withLock { $0.needsClearing = true }
            throw error
        }
    }

    /// Writes a record at the end, and flushes it.
    ///
    /// - Throws: `unavailable` if nothing was changed; `outcomeUnknown` if that cannot be told.
    func append(_ plan: RecordPlan, _ writer: inout Writer) throws(LogError) {
        let store = view.withLock { $0.store }
        if plan.isWhole { try makeRoom(for: plan.record, in: store, &writer) }
        do throws(LogError) {
            try store.write(plan.bytes, at: plan.record.offset)
            try store.synchronize()
        } catch {
            try takeBack(plan, in: store, after: error, &writer)
        }
        view.withLock { view in
            // A reader of this process may have followed it already.
            if view.head == plan.record.previous { view.apply(plan.record) }
            if view.head == plan.record.position { view.durable = view.head }
        }
        if plan.record.index.tree != nil {
            // Saves readers the records before; nothing is lost if it does not last.
            let hint = Hint(offset: plan.record.offset, sequence: plan.record.index.sequence)
            try? store.write(hint.encoded, at: UInt64(Header.hintOffset))
        }
        memory?.remember(plan.record.position)
    }

    /// Writes zeros where the record will be and beyond. A write over existing blocks does not change the file system's
    /// metadata: it is cheaper by a third, and zeros show where it was torn.
    private func makeRoom(for record: Record, in store: any RecordStore, _ writer: inout Writer) throws(LogError) {
        let size = try store.size()
        let nextHead = record.end + UInt64(Frame.headSize)
        try clearRemains(from: record.offset, upTo: nextHead, in: store, size: size, &writer)
        // A large record fills its own room: writing that twice would cost more than it saves.
        guard record.end > size, record.frame.recordLength <= 1 << 20 else { return }
        try store.writeZeros(size..<(record.end / Limits.growth + 1) * Limits.growth)
    }

    /// Clears the file from the log's end on if others left bytes there, up to `limit` at least: behind a record they
    /// would be damage, and within a torn one they would not be zeros. A clearing that was cut short may have left
    /// zeros in front that look like the log's end.
    private func clearRemains(
        from end: UInt64, upTo limit: UInt64 = .max, in store: any RecordStore, size: UInt64, _ writer: inout Writer
    ) throws(LogError) {
        guard try !store.isZero(end..<max(end, min(limit, size))) else { return }
        try store.clear(end..<size)
        try flush(store, &writer)
    }

    /// Overwrites a record with zeros, and flushes them. Where there was no room for the rest, zeros would find none
    /// either. Of a payload that was written before its head, the next writer finds the rest behind the log's end.
    private func clear(_ plan: RecordPlan, in store: any RecordStore) throws(LogError) {
        let start = plan.record.offset
        let end = try store.endOfData(in: start..<start + UInt64(plan.bytes.count))
        if start < end { try store.clear(start..<end) }
        try store.synchronize()
    }

    /// Overwrites the record with zeros: after a failed write or flush the page cache cannot be trusted. A record stays
    /// if a reader has returned it meanwhile.
    private func takeBack(
        _ plan: RecordPlan, in store: any RecordStore, after failure: LogError, _ writer: inout Writer
    ) throws(LogError) -> Never {
        let record = plan.record
        var isGivenOut: Bool { memory?.seen()?.position == record.position }
        do throws(LogError) {
            let cleared = Result { () throws(LogError) in if !isGivenOut { try clear(plan, in: store) } }
            // A reader looks at the record again once it has remembered it.
            if isGivenOut {
                try store.rewrite(record.offset + UInt64(plan.bytes.count)..<record.end)
                try store.write(plan.bytes, at: record.offset)
                try store.synchronize()
                throw failure
            }
            try cleared.get()
            try view.withLock { (view) throws(LogError) in
                // A reader of this process may have followed the record.
                if view.head == record.position { view.replace(by: try .settled(store, view.keys)) }
                if !plan.isWhole { view.needsClearing = true }
            }
        } catch {
            writer.isPoisoned = true
            throw failure.ofUnknownOutcome
        }
        throw failure
    }
}
