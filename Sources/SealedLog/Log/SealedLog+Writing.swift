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

    /// Makes all changes or none, and returns when they are durable.
    ///
    /// - Throws: `conflict` or `exists` if an expectation is not met; `invalid`; `busy`, `unavailable` (nothing was
    ///   changed); `outcomeUnknown`; the errors of opening a replaced file.
    package func commit(_ changes: ChangeList, timeout: Duration) throws(LogError) {
        try queue.commit(PendingCommit(changes, deadline: Deadline(after: timeout))) { batch throws(LogError) in
            // The latest deadline counts, so that no transaction of the batch gives up before its own.
            let deadline = batch.map(\.deadline).max() ?? Deadline(after: timeout)
            var pause: UInt32 = 1_000
            while true {
                // Transactions that are finished already have failed for their own reasons.
                let pending = batch.filter { $0.result == nil }
                do throws(LogError) {
                    // The copy that this machine keeps of a database may be damaged although the database is intact.
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

    /// Writes one record for the transactions. Returns those for which it has no room.
    private func write(
        _ batch: [PendingCommit], _ writer: inout Writer, until deadline: Deadline
    ) throws(LogError) -> ArraySlice<PendingCommit> {
        let lock = try lockForWriting(&writer, until: deadline)
        // From here on, positions and members are remembered. The file that has them must exist after a power loss.
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

    /// Flushes everything that can be read now, and the name of the file.
    ///
    /// - Throws: `busy`, `unavailable`; `outcomeUnknown` after a write with that error; the errors of opening a
    ///   replaced file.
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
            // This raises a justified alarm again. An alarm may be unjustified if a database has lost the lock before
            // the memory was read.
            try replaceView(until: deadline)
        }
    }

    /// Reads everything that was appended, and clears the bytes after the end. If another process wrote the newest
    /// record, flushes it again: that process may have died before fdatasync, and once another record follows, readers
    /// regard it as durable.
    private func makeReady(_ store: any RecordStore) throws(LogError) {
        let remembered = remembered()
        try view.withLock { (view) throws(LogError) in
            // The new record must not follow a head that its writer took back, nor one of an older file.
            if try view.newestRecordIsWhole(), try view.refresh(),
                try view.alarm(against: remembered?.position(of: view)) == nil,
                // The copy that this machine keeps must be one that the new record continues.
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

    /// Flushes the file's name, which must be durable before the first acknowledgement.
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
        // The fingerprint is taken before the flush, which does not cover later changes.
        let fingerprint = memory?.fingerprint(of: file, store.locationState())
        guard fingerprint == nil || fingerprint != known else { return fingerprint }
        try store.synchronizeLocation()
        memory?.rememberPath(durable: fingerprint)
        return fingerprint
    }

    // MARK: The record

    /// Plans the record for the first transactions, as many as it has room for, and removes them from the list. Returns
    /// nil if they change nothing.
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

    /// Plans a record with a tree. A large payload is written to the store while it is built: readers do not follow the
    /// log to it before its head is there.
    private func treePlan(_ batch: TransactionBatch) throws(LogError) -> RecordPlan {
        // It works on a copy of the view, so that other threads can read meanwhile.
        let view = view.withLock { $0 }
        let store = view.store
        try store.prepareAppend(behind: LogEnd(at: view.end, isPayloadFirst: true))
        do throws(LogError) { return try view.treePlan(batch, into: store) } catch {
            self.view.withLock { $0.needsClearing = true }
            throw error
        }
    }

    /// - Throws: `overtaken` or `unavailable` if nothing was changed; `outcomeUnknown` if that is uncertain.
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
            // A reader of this process may have followed the record already.
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

    /// Removes a record from the view that was taken back, since a reader of this process may have followed it.
    private func forget(_ plan: RecordPlan, after failure: LogError) throws(LogError) {
        do throws(LogError) {
            try view.withLock { (view) throws(LogError) in
                if view.head == plan.record.position { view.replace(by: try .whole(view.store, view.keys)) }
            }
        } catch { throw failure.ofUnknownOutcome }
    }
}
