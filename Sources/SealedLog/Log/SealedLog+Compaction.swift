import LinuxSystem

/// The outcome of a compaction: sizes of the file in bytes.
package struct CompactionReport: Hashable, Sendable, Encodable {
    /// The old file's size.
    package let sizeBefore: Int
    /// The new file's size.
    package let sizeAfter: Int
    /// The names with a value that a rotation of the data key could not open, sorted bytewise. It is as it was.
    package var unopened: [String] = []

    package init(sizeBefore: Int, sizeAfter: Int) { (self.sizeBefore, self.sizeAfter) = (sizeBefore, sizeAfter) }
}

/// How far a long call has come: pass it in, and read it from another thread.
package final class UpkeepProgress: Sendable {
    private let doneBytes = Atomic<UInt64>(0)
    private let totalBytes = Atomic<UInt64>(0)

    /// Belongs to a call that has not begun.
    package init() {}

    /// The part that is done, from 0 to 1.
    package var fraction: Double {
        let total = totalBytes.load(ordering: .relaxed)
        return total == 0 ? 0 : min(1, Double(doneBytes.load(ordering: .relaxed)) / Double(total))
    }

    package func begin(_ total: UInt64) { totalBytes.store(total, ordering: .relaxed) }
    package func advance(by bytes: UInt64) { doneBytes.add(bytes, ordering: .relaxed) }

    /// Sets the fraction to 1: the total was an estimate.
    package func finish() {
        begin(1)
        doneBytes.store(1, ordering: .relaxed)
    }
}

extension SealedLog {
    /// Rewrites the vault without dead bytes.
    ///
    /// - Throws: `busy`, `unavailable`, `damaged`: the vault is unchanged; `outcomeUnknown` if the new file's name
    ///   could not be flushed; also what opening a replaced file throws.
    package func compact(timeout: Duration, _ counter: UpkeepProgress? = nil) throws(LogError) -> CompactionReport {
        try compactRemembering(nil, timeout: timeout, counter)
    }

    /// Does the same, unless another compaction is under way.
    func compactOnce() throws(LogError) {
        _ = try compact(nil, until: Deadline(after: lockTimeout), isImpatient: false, nil)
    }

    /// Rewrites the vault with other key slots, or with other limits of its history. If the data key is a new one,
    /// everything is sealed anew, and the old data key opens nothing in the new file.
    ///
    /// - Parameter edit: changes the slots; no lock is held, since stretching takes long.
    /// - Throws: what ``compact(timeout:)`` throws; what `edit` throws; `conflict` if another process changed them
    ///   meanwhile.
    package func changeKeys(
        timeout: Duration, _ counter: UpkeepProgress? = nil, _ edit: (inout SlotTable) throws(LogError) -> Void
    ) throws(LogError) -> CompactionReport {
        try changeHeader(timeout: timeout, counter) { (header, table) throws(LogError) in
            // A machine that may not sign may not change these either.
            if !table.members.isEmpty { _ = try signingKey() }
            var changed = table
            try edit(&changed)
            return HeaderChange(old: header, changed, oldMembers: table.members.records.count)
        }
    }

    func changeHeader(
        timeout: Duration, _ counter: UpkeepProgress?,
        _ decide: (Header, SlotTable) throws(LogError) -> HeaderChange
    ) throws(LogError) -> CompactionReport {
        let deadline = Deadline(after: timeout)
        while true {
            let (header, table) = try read { (view) throws(LogError) in (view.header, try view.slotTable()) }
            let change = try decide(header, table)
            do throws(LogError) { return try compactRemembering(change, timeout: timeout, counter) } catch {
                // Another process has changed the header meanwhile.
                guard error.code == .conflict, !deadline.hasPassed,
                    try !change.applies(to: read { (view) throws(LogError) in view.header })
                else { throw error }
            }
        }
    }

    /// Returns the key slots.
    package func keySlots() throws(LogError) -> SlotTable {
        try read { (view) throws(LogError) in try view.slotTable() }
    }

    /// How long a compaction on request waits for another one, where that is no more than a courtesy.
    private static let patience: Duration = .seconds(2)

    /// Compacts on request, after another compaction that is under way. The next process knows of damage that is found.
    private func compactRemembering(
        _ change: HeaderChange?, timeout: Duration, _ counter: UpkeepProgress?
    ) throws(LogError) -> CompactionReport {
        let deadline = Deadline(after: timeout)
        let patience = Deadline(after: min(timeout / 2, SealedLog.patience))
        var pause: UInt32 = 5_000
        while true {
            do throws(LogError) {
                return try compact(change, until: deadline, isImpatient: patience.hasPassed, counter)
            } catch {
                if error.code == .damaged { rememberFailure(error) }
                let isOvertaken = change?.applies(to: view.withLock { $0.header }) ?? true
                guard [.busy, .conflict].contains(error.code), isOvertaken, !deadline.hasPassed else {
                    throw error
                }
                Clock.sleep(microseconds: pause)
                pause = min(pause * 2, 100_000)
            }
        }
    }

    /// Lets the next process know why a compaction or a verification failed.
    @discardableResult
    func rememberFailure(_ error: LogError) -> RollbackMemory.Upkeep {
        let origin = view.withLock { $0.origin.authenticator }
        let upkeep = RollbackMemory.Upkeep(origin: origin, retryAt: nextTry(), error: error)
        // What a server refuses is told by the server each time.
        if error.code != .serverRefused { memory?.rememberUpkeep(upkeep) }
        return upkeep
    }

    /// Writes a compacted file beside the log and puts it in its place.
    ///
    /// Others write meanwhile: the lock is held only to begin, and again for what they wrote last and for the rename.
    ///
    /// - Throws: `conflict` if the file was replaced meanwhile, or a change was taken back; `busy` if another
    ///   compaction is under way.
    private func compact(
        _ change: HeaderChange?, until deadline: Deadline, isImpatient: Bool, _ counter: UpkeepProgress?
    ) throws(LogError) -> CompactionReport {
        var lock: StoreLock?
        let (old, store) = try beginCompaction(change, until: deadline, isImpatient: isImpatient, &lock)
        var isPublished = false
        defer { if !isPublished { store.discard() } }
        var compactor = try Compactor(old, into: store, change, counter)
        try compactor.copyCheckpoint()
        try compactor.copyTail()
        try store.synchronize()

        var attempts = 0
        while true {
            attempts += 1
            try compactor.prepareLastRecords()
            let report: CompactionReport? = try writer.withLock { (writer) throws(LogError) in
                let oldLock = try lockForWriting(&writer, until: deadline)
                let current = view.withLock { $0 }
                guard current.file == old.file, change?.applies(to: current.header) ?? true else {
                    throw LogError(.conflict)
                }
                // A minor checkpoint that is left is read without the lock. The next one is over a hundred records
                // away, unless transactions are large.
                guard try compactor.readLastRecords(upTo: current, isHurried: attempts < 4) else { return nil }
                let notice = try current.noticePlan()
                try announce(notice)
                try compactor.finish(after: notice.record)
                var report = try publish(store, change?.keys ?? old.keys, replacing: old, &writer, &isPublished)
                report.unopened = compactor.unopenedNames
                oldLock.release()
                // Here, where no other thread has this file's lock: it is one for all of them.
                lock.take()?.release()
                return report
            }
            if let report { return report }
        }
    }

    /// Flushes a compacted file and renames it into the log's place, while nobody can write.
    private func publish(
        _ store: any NewStore, _ keys: KeyRing, replacing old: LogView, _ writer: inout Writer,
        _ isPublished: inout Bool
    ) throws(LogError) -> CompactionReport {
        let new = try LogView.whole(store, keys)
        // Flushed before the look at the path, which leaves hardly any time for another file to get there.
        try store.synchronize()
        guard try old.store.isCurrent() else { throw LogError(.conflict) }
        try store.publish(over: Replaceable(compacted: old), new.head)
        isPublished = true

        show(new)
        memory?.forgetUpkeep()
        // Remembered once its name is durable: until then a power loss may bring the old file back.
        do throws(LogError) { try flushName(&writer) } catch { throw old.store.unknownName(error) }
        if store.target == nil { memory?.remember(new.head, following: old.head) }
        return CompactionReport(
            sizeBefore: Int(clamping: try old.store.size()), sizeAfter: Int(clamping: try store.size()))
    }

    /// Returns the log as it is now, and the store for the compacted one, whose lock is taken.
    private func beginCompaction(
        _ change: HeaderChange?, until deadline: Deadline, isImpatient: Bool, _ newLock: inout StoreLock?
    ) throws(LogError) -> (LogView, any NewStore) {
        try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: deadline)
            // The notice will count as seen, so its file has to be the one that is found after a power loss.
            try flushName(&writer)
            let old = view.withLock { $0 }
            // A merge takes over no header, and what was given up or limited here would go on in the vault itself.
            if change != nil {
                try old.store.checkIsVault(
                    "Offline, the keys, the members and the limits of a vault stay as they are. Change them with the "
                        + "server.")
            }
            guard change?.applies(to: old.header) ?? true else { throw LogError(.conflict) }
            let new = try old.store.makeReplacement(isImpatient: isImpatient)
            newLock = StoreLock(store: new)
            lock.release()
            return (old, new)
        }
    }
}

extension LogView {
    fileprivate func slotTable() throws(LogError) -> SlotTable {
        let manifest = try manifest()
        return SlotTable(header, manifest, try members(in: manifest), keys)
    }
}
