import LinuxSystem

/// The outcome of a compaction: sizes of the file in bytes.
package struct CompactionReport: Hashable, Sendable, Encodable {
    package let sizeBefore: Int
    package let sizeAfter: Int
    /// The names with a value that a rotation could not open and left as it was, sorted bytewise.
    package var unopened: [String] = []

    package init(sizeBefore: Int, sizeAfter: Int) {
        self.sizeBefore = sizeBefore
        self.sizeAfter = sizeAfter
    }
}

extension SealedLog {
    /// Rewrites the vault without dead bytes.
    ///
    /// - Throws: `busy`, `unavailable`, `damaged`: the vault is unchanged; `outcomeUnknown` if the new file's name
    ///   could not be flushed; the errors of opening a replaced file.
    package func compact(timeout: Duration, _ counter: UpkeepProgress? = nil) throws(LogError) -> CompactionReport {
        try compactRemembering(nil, timeout: timeout, counter)
    }

    /// Compacts the vault, unless another compaction is in progress.
    func compactOnce() throws(LogError) {
        _ = try compact(nil, until: Deadline(after: lockTimeout), isImpatient: false, nil)
    }

    /// Rewrites the vault with other key slots or other limits on its history. With a new data key, everything is
    /// resealed, and the old data key opens nothing in the new file.
    ///
    /// - Parameter edit: changes the slots. No lock is held, since stretching takes long.
    /// - Throws: the errors of ``compact(timeout:)`` and of `edit`; `conflict` if another process has changed the slots
    ///   meanwhile.
    package func changeKeys(
        timeout: Duration, _ counter: UpkeepProgress? = nil, _ edit: (inout SlotTable) throws(LogError) -> Void
    ) throws(LogError) -> CompactionReport {
        try changeHeader(timeout: timeout, counter) { (header, table) throws(LogError) in
            // A machine that may not sign must not change keys either.
            if !table.members.isEmpty { _ = try signingKey() }
            var changed = table
            try edit(&changed)
            return HeaderChange(old: header, changed, oldMembers: table.members.records.count)
        }
    }

    func changeHeader(
        timeout: Duration, _ counter: UpkeepProgress?, _ decide: (Header, SlotTable) throws(LogError) -> HeaderChange
    ) throws(LogError) -> CompactionReport {
        let deadline = Deadline(after: timeout)
        while true {
            let (header, table) = try read { (view) throws(LogError) in (view.header, try view.slotTable()) }
            let change = try decide(header, table)
            do throws(LogError) { return try compactRemembering(change, timeout: timeout, counter) } catch {
                // Retry if another process has changed the header meanwhile.
                guard error.code == .conflict, !deadline.hasPassed,
                    try !change.applies(to: read { (view) throws(LogError) in view.header })
                else { throw error }
            }
        }
    }

    package func keySlots() throws(LogError) -> SlotTable {
        try read { (view) throws(LogError) in try view.slotTable() }
    }

    /// The time for which a requested compaction waits for another one, if it could also go ahead.
    private static let patience: Duration = .seconds(2)

    /// Compacts on request, after a compaction in progress. Damage that is found is remembered for the next process.
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
                guard [.busy, .conflict].contains(error.code), isOvertaken, !deadline.hasPassed else { throw error }
                Clock.sleep(microseconds: pause)
                pause = min(pause * 2, 100_000)
            }
        }
    }

    @discardableResult
    func rememberFailure(_ error: LogError) -> RollbackMemory.Upkeep {
        let origin = view.withLock { $0.origin.authenticator }
        let upkeep = RollbackMemory.Upkeep(origin: origin, retryAt: nextTry(), error: error)
        // The server reports its own refusals each time.
        if error.code != .serverRefused { memory?.rememberUpkeep(upkeep) }
        return upkeep
    }

    /// Writes a compacted file beside the log and renames it into place.
    ///
    /// Other processes write meanwhile: the lock is held only at the beginning, and again for their last records and
    /// the rename.
    ///
    /// - Throws: `conflict` if the file was replaced meanwhile, or a change was taken back; `busy` if another
    ///   compaction is in progress.
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
                // A remaining minor checkpoint is read without the lock. The next one is over a hundred records away,
                // unless transactions are large.
                guard try compactor.readLastRecords(upTo: current, isHurried: attempts < 4) else { return nil }
                let notice = try current.noticePlan()
                try announce(notice)
                try compactor.finish(after: notice.record)
                var report = try publish(store, change?.keys ?? old.keys, replacing: old, &writer, &isPublished)
                report.unopened = compactor.unopenedNames
                oldLock.release()
                // The new file's lock is released here, where no other thread holds it: the process has one lock for
                // all its threads.
                lock.take()?.release()
                return report
            }
            if let report { return report }
        }
    }

    /// Flushes a compacted file and renames it into the log's location, while no process can write.
    private func publish(
        _ store: any NewStore, _ keys: KeyRing, replacing old: LogView, _ writer: inout Writer,
        _ isPublished: inout Bool
    ) throws(LogError) -> CompactionReport {
        let new = try LogView.whole(store, keys)
        // It is flushed before the path is checked, so that there is hardly any time for another file to appear there.
        try store.synchronize()
        guard try old.store.isCurrent() else { throw LogError(.conflict) }
        try store.publish(over: Replaceable(compacted: old), new.head)
        isPublished = true

        show(new)
        memory?.forgetUpkeep()
        // The head is remembered once the name is durable. Until then a power loss may bring the old file back.
        do throws(LogError) { try flushName(&writer) } catch { throw old.store.unknownName(error) }
        if store.target == nil { memory?.remember(new.head, following: old.head) }
        return CompactionReport(
            sizeBefore: Int(clamping: try old.store.size()), sizeAfter: Int(clamping: try store.size()))
    }

    /// Returns the present view of the log, and the locked store for the compacted file.
    private func beginCompaction(
        _ change: HeaderChange?, until deadline: Deadline, isImpatient: Bool, _ newLock: inout StoreLock?
    ) throws(LogError) -> (LogView, any NewStore) {
        try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: deadline)
            // The notice will be remembered, so this file must be the one that exists after a power loss.
            try flushName(&writer)
            let old = view.withLock { $0 }
            // A merge takes over no header: keys that are removed and limits that are lowered here would stay in the
            // vault itself.
            if change != nil {
                try old.store.checkIsVault(
                    "Offline, the keys, the members and the limits of a vault cannot be changed. Connect to the "
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
