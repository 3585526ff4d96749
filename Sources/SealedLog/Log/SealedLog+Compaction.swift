import LinuxSystem

/// The result of a compaction. The file's sizes before and after are in bytes.
package struct CompactionReport: Hashable, Sendable, Encodable {
    package let sizeBefore: Int
    package let sizeAfter: Int
    /// The names of values that a rotation could not open and therefore copied unchanged, sorted bytewise.
    package var unopened: [String] = []

    package init(sizeBefore: Int, sizeAfter: Int) {
        self.sizeBefore = sizeBefore
        self.sizeAfter = sizeAfter
    }
}

extension SealedLog {
    /// Rewrites the vault's file without the values and entries that are no longer kept.
    ///
    /// - Throws: `busy`, `unavailable` or `damaged` (the vault is unchanged); `outcomeUnknown` if the new file's name
    ///   could not be flushed; any error from opening the file again after another process has replaced it.
    package func compact(timeout: Duration, _ counter: UpkeepProgress? = nil) throws(LogError) -> CompactionReport {
        try compactRemembering(nil, timeout: timeout, counter)
    }

    /// Compacts the vault. Throws `busy` instead of waiting if another compaction is running.
    func compactOnce() throws(LogError) {
        _ = try compact(nil, until: Deadline(after: lockTimeout), isImpatient: false, nil)
    }

    /// Rewrites the vault with changed key slots or changed limits on its history. If the data key changes, everything
    /// is resealed, so the old data key opens nothing in the new file.
    ///
    /// - Parameter edit: changes the slots. It is called while no lock is held, since key stretching is slow.
    /// - Throws: any error from ``compact(timeout:)`` or `edit`; `conflict` if another process changes the slots.
    package func changeKeys(
        timeout: Duration, _ counter: UpkeepProgress? = nil, _ edit: (inout SlotTable) throws(LogError) -> Void
    ) throws(LogError) -> CompactionReport {
        try changeHeader(timeout: timeout, counter) { (header, table) throws(LogError) in
            // If the vault has members, a machine that cannot sign changes is not allowed to change the keys either.
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
                // If another process has changed the header since it was read, the edit is applied to the new header.
                guard error.code == .conflict, !deadline.hasPassed,
                    try !change.applies(to: read { (view) throws(LogError) in view.header })
                else { throw error }
            }
        }
    }

    package func keySlots() throws(LogError) -> SlotTable {
        try read { (view) throws(LogError) in try view.slotTable() }
    }

    /// The maximum time that a requested compaction waits for a running one, if the store permits two at once.
    private static let patience: Duration = .seconds(2)

    /// Compacts the vault on request, after waiting for any running compaction. Records damage in the rollback memory.
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
        // A refusal by the server is not recorded for other processes, since the server refuses their attempts too.
        if error.code != .serverRefused { memory?.rememberUpkeep(upkeep) }
        return upkeep
    }

    /// Writes a compacted file next to the log and renames it into place.
    ///
    /// Other processes can write most of the time. The lock is held only briefly: once at the start, and again at the
    /// end while the last records are copied and the file is renamed.
    ///
    /// - Throws: `conflict` if another process has replaced the file or withdrawn a record during the call; `busy` if
    ///   another compaction is running.
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
                // In the first three rounds, a new minor checkpoint is left to the next round, which reads it without
                // the lock. Another follows only after more than a hundred records, unless transactions are large.
                guard try compactor.readLastRecords(upTo: current, isHurried: attempts < 4) else { return nil }
                let notice = try current.noticePlan()
                try announce(notice)
                try compactor.finish(after: notice.record)
                var report = try publish(store, change?.keys ?? old.keys, replacing: old, &writer, &isPublished)
                report.unopened = compactor.unopenedNames
                oldLock.release()
                // Release the new file's lock before the writer's mutex. All threads of the process share the file
                // lock, so once the mutex is released, another thread may be relying on that lock.
                lock.take()?.release()
                return report
            }
            if let report { return report }
        }
    }

    /// Flushes a compacted file and renames it to the log's location. The caller holds the log's lock.
    private func publish(
        _ store: any NewStore, _ keys: KeyRing, replacing old: LogView, _ writer: inout Writer,
        _ isPublished: inout Bool
    ) throws(LogError) -> CompactionReport {
        let new = try LogView.whole(store, keys)
        // The flush precedes the check of the path, so that little time passes between this check and the rename.
        try store.synchronize()
        guard try old.store.isCurrent() else { throw LogError(.conflict) }
        try store.publish(over: Replaceable(compacted: old), new.head)
        isPublished = true

        show(new)
        memory?.forgetUpkeep()
        // Remember the head only once the file's name is durable. Until then, a power loss may restore the old file.
        do throws(LogError) { try flushName(&writer) } catch { throw old.store.unknownName(error) }
        if store.target == nil { memory?.remember(new.head, following: old.head) }
        return CompactionReport(
            sizeBefore: Int(clamping: try old.store.size()), sizeAfter: Int(clamping: try store.size()))
    }

    /// Creates a locked store for the compacted file, and returns it with the current view of the log.
    private func beginCompaction(
        _ change: HeaderChange?, until deadline: Deadline, isImpatient: Bool, _ newLock: inout StoreLock?
    ) throws(LogError) -> (LogView, any NewStore) {
        try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: deadline)
            // This machine will remember a notice in this file, so a power loss must not bring back an older file.
            try flushName(&writer)
            let old = view.withLock { $0 }
            // The header cannot be changed offline, because a merge ignores the offline copy's header. A key removed
            // offline would still open the vault, and a history limit lowered offline would have no effect.
            if change != nil {
                try old.store.checkIsVault(
                    "The keys, the members and the limits of a vault cannot be changed offline. Connect to the "
                        + "server first.")
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
