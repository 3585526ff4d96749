import LinuxSystem
package import Sealing

extension SealedLog {
    package func seal(
        _ value: borrowing SecretBytes, kind: UInt8, nonces: inout NonceSource
    ) throws(LogError) -> SealedValue {
        guard value.count <= Limits.valueSize else {
            throw LogError(.invalid, "a value may have at most \(Limits.valueSize >> 20) MiB")
        }
        return try SealedValue(value, kind: kind, nonce: nonces.next(), under: keys)
    }

    /// Applies all changes in the list atomically. Returns when they are durable.
    ///
    /// - Throws: `conflict` or `exists` if the vault does not meet an expectation in the list; `invalid`; `busy` or
    ///   `unavailable` (nothing was changed); `outcomeUnknown`; any error from reopening a replaced file.
    package func commit(_ changes: ChangeList, timeout: Duration) throws(LogError) {
        try queue.commit(PendingCommit(changes, deadline: Deadline(after: timeout))) { batch throws(LogError) in
            // The latest deadline counts, so that no transaction of the batch fails before its own deadline.
            let deadline = batch.map(\.deadline).max() ?? Deadline(after: timeout)
            var pause: UInt32 = 1_000
            while true {
                // Transactions that already have a result failed on their own in an earlier attempt. They are skipped.
                let pending = batch.filter { $0.result == nil }
                do throws(LogError) {
                    // Retries if damaged data was read, since only this machine's copy of a database may be damaged.
                    return try certain { () throws(LogError) in
                        try writer.withLock { (writer) throws(LogError) in
                            try write(pending, &writer, until: deadline)
                        }
                    }
                } catch {
                    guard error.code == .overtaken else { throw error }
                    guard !deadline.hasPassed else { throw LogError(.busy, view.withLock { $0.store.path }) }
                    Clock.sleep(microseconds: pause)
                    pause = min(pause * 2, 50_000)
                }
            }
        }
        if upkeep.takeLeft() { compactIfDue() }
    }

    /// Writes one record with as many of the transactions as fit. Returns the transactions that do not fit.
    private func write(
        _ batch: [PendingCommit], _ writer: inout Writer, until deadline: Deadline
    ) throws(LogError) -> ArraySlice<PendingCommit> {
        let lock = try lockForWriting(&writer, until: deadline)
        // This machine is about to remember the file's log position and members, so the file must survive a power loss.
        try flushName(&writer)
        let key = try signingKey()
        var rest = batch[...]
        let plan = try plan(&rest, signedBy: key)
        if let plan { try append(plan) }
        lock.release()
        for pending in batch.dropLast(rest.count) { pending.finish(.success(())) }
        if plan != nil, upkeep.isAutomatic, isCompactionDue(&writer) { upkeep.start { self.compactIfDue() } }
        return rest
    }

    /// Flushes all records that are currently readable, and the file's directory entry.
    ///
    /// - Throws: `busy` or `unavailable`; `outcomeUnknown` if an earlier write failed with that error; any error from
    ///   reopening a replaced file.
    package func makeDurable(timeout: Duration) throws(LogError) {
        try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: Deadline(after: timeout))
            try flushName(&writer)
            lock.release()
        }
    }

    // MARK: Before a record

    /// Acquires an exclusive lock on the file that is now at the path, and updates the view with all new records.
    func lockForWriting(_ writer: inout Writer, until deadline: Deadline) throws(LogError) -> StoreLock {
        var isDoubted = false
        while true {
            let store = view.withLock { $0.store }
            if let lock = try store.lock(.exclusive, until: deadline) {
                do throws(LogError) {
                    try makeReady(store)
                    return lock
                } catch {
                    guard LogError.Code.alarms.contains(error.code), !isDoubted || !deadline.hasPassed else {
                        throw error
                    }
                    isDoubted = true
                }
                lock.release()
            } else {
                try store.machineCopy?.beginPending(until: deadline) { (copy) throws(LogError) in
                    _ = try Verifier(of: .whole(copy, keys), nil).run()
                }
            }
            // A rollback alarm may be false: the lock in the database may have been lost before the rollback memory was
            // read. If the alarm is genuine, the next attempt raises it again.
            try replaceView(until: deadline)
        }
    }

    /// Follows all appended records and clears the bytes after the end. If another process wrote the newest record,
    /// flushes it again, because that process may have died before fdatasync. Readers regard that record as durable
    /// once another record follows.
    private func makeReady(_ store: any RecordStore) throws(LogError) {
        let remembered = remembered()
        try view.withLock { (view) throws(LogError) in
            // The new record must not follow a removed record, or the last one of an older file, such as a backup.
            if try view.newestRecordIsWhole(), try view.refresh(),
                try view.alarm(against: remembered?.position(of: view)) == nil,
                // This machine's copy of the store must not be newer than the store or diverge from it.
                try view.alarmOfCopy() == nil
            {
                return
            }
            let next = try store.rereading(stayingInDoubt: true) { () throws(LogError) in
                try view.reopened(on: store, knowing: remembered)
            }
            view.replace(by: next)
        }
        let (keys, end) = view.withLock { view in
            let undurable = view.durable == view.head ? nil : view.newestRecord
            return (view.keys, LogEnd(at: view.end, undurable: undurable, needsClearing: view.needsClearing))
        }
        adopt(keys)
        try store.prepareAppend(behind: end)
        view.withLock { view in
            view.needsClearing = false
            view.durable = view.head
        }
    }

    /// Flushes the file's directory entry, which must be durable before the first write is acknowledged.
    func flushName(_ writer: inout Writer) throws(LogError) {
        let (store, file) = view.withLock { ($0.store, $0.file) }
        guard writer.durableFile != file else { return }
        writer.rememberedFingerprint = try flushName(of: store, file, unless: writer.rememberedFingerprint)
        writer.durableFile = file
    }

    /// Returns a file's fingerprint. If it is nil or not `known`, flushes the directory entry and remembers the result.
    func flushName(
        of store: any RecordStore, _ file: CheckpointFile, unless known: Authenticator?
    ) throws(LogError) -> Authenticator? {
        // Compute the file's fingerprint first. After the flush, it could reflect a rename that was not flushed.
        let fingerprint = memory?.fingerprint(of: file, store.locationState())
        guard fingerprint == nil || fingerprint != known else { return fingerprint }
        try store.synchronizeLocation()
        memory?.rememberPath(durable: fingerprint)
        return fingerprint
    }

    // MARK: The record

    /// Plans a record with as many of the first transactions as fit, and removes these transactions from the list.
    /// Returns nil if they change nothing.
    private func plan(
        _ rest: inout ArraySlice<PendingCommit>, signedBy key: DeviceKey?
    ) throws(LogError) -> RecordPlan? {
        let now = Clock.milliseconds
        let (batch, plan) = try view.withLock { (view) throws(LogError) -> (TransactionBatch, RecordPlan?) in
            var batch = TransactionBatch(totals: try view.currentTotals())
            let head = view.head
            let circumstances = Circumstances(
                now: now, sequence: head.sequence + 1, history: view.header.history,
                signer: key.map(view.signer), retentionTime: view.store.retentionTime)
            while let pending = rest.first {
                do throws(LogError) {
                    let changes = try pending.changes.sealed(under: view.keys)
                    let isTaken = try batch.add(changes, circumstances) { () throws(LogError) in
                        try view.manifest().created
                    } find: { (name) throws(LogError) in
                        try view.find(name)
                    } value: { (version) throws(LogError) in
                        try view.sealed(version)
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
        return if batch.isEmpty || plan != nil { plan } else { try treePlan(batch) }
    }

    /// Plans a record with a tree. A large payload is written to the store while it is built. That is safe because
    /// readers ignore a payload until its record's head is written.
    private func treePlan(_ batch: TransactionBatch) throws(LogError) -> RecordPlan {
        // The record is planned with a copy of the view, so that other threads can read in the meantime.
        let view = view.withLock { $0 }
        let store = view.store
        try store.prepareAppend(behind: LogEnd(at: view.end, isPayloadFirst: true))
        do throws(LogError) { return try view.treePlan(batch, into: store) } catch {
            self.view.withLock { $0.needsClearing = true }
            throw error
        }
    }

    /// Appends a record. Throws `overtaken` or `unavailable` if nothing was appended, or `outcomeUnknown`.
    func append(_ plan: RecordPlan) throws(LogError) {
        let store = view.withLock { $0.store }
        do throws(LogError) { try store.append(plan.stored) } catch { throw try refused(plan, by: error) }
        didAppend(plan, to: store)
    }

    func announce(_ plan: RecordPlan) throws(LogError) {
        let store = view.withLock { $0.store }
        do throws(LogError) {
            if try store.announce(plan.stored) { didAppend(plan, to: store) }
        } catch { throw try refused(plan, by: error) }
    }

    private func didAppend(_ plan: RecordPlan, to store: any RecordStore) {
        view.withLock { view in
            // A reader in this process may have read the new record already. The view then includes it.
            if view.head == plan.record.previous { view.apply(plan.record) }
            guard view.head == plan.record.position else { return }
            view.durable = view.head
            if view.isLocationKnown { view.confirmed = view.head }
        }
        if store.target == nil {
            memory?.remember(plan.record.position, following: plan.record.previous)
        } else {
            notices.post(.changedApart)
        }
    }

    private func refused(_ plan: RecordPlan, by error: LogError) throws(LogError) -> LogError {
        if error.code != .outcomeUnknown { try forget(plan, after: error) }
        return error
    }

    /// Reloads the view if a reader in this process has already read the record whose write failed.
    private func forget(_ plan: RecordPlan, after failure: LogError) throws(LogError) {
        do throws(LogError) {
            try view.withLock { (view) throws(LogError) in
                if view.head == plan.record.position { view.replace(by: try .whole(view.store, view.keys)) }
            }
        } catch { throw failure.ofUnknownOutcome }
    }
}
