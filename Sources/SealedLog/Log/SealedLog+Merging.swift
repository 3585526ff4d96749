import LinuxSystem
import Sealing

/// The outcome of a merge.
package struct MergeReport: Hashable, Sendable {
    package enum Keys: Sendable {
        /// Both copies have the same.
        case same
        /// They differ: those of this copy count, or those of the other one, whose data key was rotated.
        case own, other
    }

    /// The names that have come or changed here, sorted bytewise.
    package fileprivate(set) var changed: [String] = []
    /// Those of them, and others, that both sides had changed: the later value counts.
    package fileprivate(set) var conflicts: [String] = []
    /// Those in conflict whose other value is not in the history: the vault keeps none, or the entry has no room.
    package fileprivate(set) var dropped: [String] = []
    /// Whose key slots count from now on.
    package fileprivate(set) var keys = Keys.same
}

extension SealedLog {
    /// Takes over what another copy of this vault has: of each name the later state, with the values of both sides as
    /// its history. Afterwards, the copies' machines accept this file as the later one of both.
    ///
    /// It is done in steps that are all durable; what a step has merged stays if the next one fails.
    ///
    /// - Throws: `invalid` if it is another vault; `copyDamaged`; what reading, writing and compacting throw.
    package func merge(
        _ other: SealedLog, timeout: Duration, _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> MergeReport {
        guard other.vaultID == vaultID else {
            throw LogError(.invalid, "it is another vault, not a copy of this one")
        }
        let theirs = try ofCopy { () throws(LogError) in try other.read(isSure: true) { (view) in view } }
        return try merge(theirs, timeout: timeout, counter)
    }

    private func merge(
        _ theirs: LogView, timeout: Duration, _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> MergeReport {
        var report = MergeReport()
        let ours = try read(isSure: true) { (view) throws(LogError) in
            // What is merged has to reach the vault itself. If the server has gone since, this may be the copy that is
            // merged: it would have everything, and be removed.
            guard !view.store.isProvisional else {
                throw LogError(.unreachable, "Offline, copies cannot be merged. Merge them with the server.")
            }
            return view
        }
        // What this history includes has nothing new.
        if try ours.includes(theirs.head) == .included { return report }
        counter?.begin(2 * theirs.end)
        let history = try ofCopy { () throws(LogError) in try KnownHistory(of: theirs) }
        let past = CommonPast(try KnownHistory(of: ours), history)
        let keys = try MergedKeys(ours, theirs)
        report.keys = keys.choice
        // Under the same data key, values are known by their nonces.
        if keys.choice == .other { try change(keys, nil, timeout: timeout, nil) }
        try mergeEntries(of: theirs, past, timeout: timeout, counter, &report)
        try change(keys, history.positions, timeout: timeout, counter)
        return report
    }

    /// Takes over what was changed in a copy of this vault under the same keys, and removes the copy.
    ///
    /// If the connection is lost, it is tried again; if the server has gone, the log is that of the copy afterwards.
    ///
    /// - Returns: nil if another process has done it.
    /// - Throws: as ``merge(_:timeout:_:)``.
    package func mergePending(_ copy: FilePlace, timeout: Duration) throws(LogError) -> MergeReport? {
        do throws(LogError) { return try mergeOnce(copy, timeout: timeout) } catch {
            guard [.unreachable, .outcomeUnknown].contains(error.code) else { throw error }
        }
        // This process holds the copy's lock no more.
        try settle()
        guard !isProvisional else { throw LogError.serverGone }
        return try mergeOnce(copy, timeout: timeout)
    }

    private func mergeOnce(_ copy: FilePlace, timeout: Duration) throws(LogError) -> MergeReport? {
        // Nobody adds to it meanwhile: it would be lost.
        guard let lock = try lockPending(copy, until: Deadline(after: timeout)) else {
            // What is shown may have been read before that.
            try settle()
            return nil
        }
        holdsPending.withLock { $0 = true }
        defer { holdsPending.withLock { $0 = false } }
        // Not by a log of its own: where something in it is doubtful, that would wait for the lock, which is held here.
        let theirs = try ofCopy { () throws(LogError) in try LogView.settled(lock.store, keys) }
        let report = try merge(theirs, timeout: timeout)
        // If a power loss brought the copy back, it would hide offline what was written since.
        try translated(WholeFile(copy.location, in: copy.files).remove(), at: copy.location)
        lock.release()
        return report
    }

    private func lockPending(_ copy: FilePlace, until deadline: Deadline) throws(LogError) -> StoreLock? {
        do throws(LogError) {
            let lock = try copy.open(.fresh).lock(.exclusive, until: deadline)
            if try lock.store.isCurrent() { return lock }
            lock.release()
            // A compaction may have replaced it.
            return try copy.exists() ? lockPending(copy, until: deadline) : nil
        } catch {
            guard error.code == .missing else { throw error }
            return nil
        }
    }

    private func change(
        _ keys: MergedKeys, _ merged: KnownPositions?, timeout: Duration, _ counter: UpkeepProgress?
    ) throws(LogError) {
        _ = try changeHeader(timeout: timeout, counter) { (header, table) throws(LogError) in
            keys.change(header, table, isTaken: self.keys === keys.taken, merging: merged)
        }
    }

    private func mergeEntries(
        of theirs: LogView, _ past: CommonPast, timeout: Duration, _ counter: UpkeepProgress?,
        _ report: inout MergeReport
    ) throws(LogError) {
        var merge = try ofCopy { () throws(LogError) in try theirs.entries() }
        while true {
            let step = try ofCopy { () throws(LogError) in try MergeStep(&merge, past) }
            guard !step.isEnd else { return }
            if !step.entries.isEmpty { try write(step, of: theirs, past, timeout: timeout, &report) }
            counter?.advance(by: step.size)
            // Each step adds a tree of all that came before, which the next compaction drops.
            if view.withLock({ $0.isCompactionDue }) { _ = try compact(timeout: timeout) }
        }
    }

    /// Writes one record with the entries that change.
    private func write(
        _ step: MergeStep, of theirs: LogView, _ past: CommonPast, timeout: Duration, _ report: inout MergeReport
    ) throws(LogError) {
        let merged = try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: Deadline(after: timeout))
            // A copy: others may read meanwhile.
            var ours = view.withLock { $0 }
            let isRotated = try theirs.keys.fingerprint(of: vaultID) != ours.keys.fingerprint(of: vaultID)
            var values = try CopiedValues(of: theirs, resealing: isRotated ? ours.keys : nil)
            var batch = TransactionBatch(totals: try ours.currentTotals())
            var merged = MergeReport()
            for entry in step.entries {
                try merge(entry, past, &ours, &values, into: &batch, &merged)
            }
            if !batch.isEmpty {
                try flushName(&writer)
                let short = try ours.shortPlan(batch)
                let plan = if let short { short } else { try ours.treePlan(batch, into: nil) }
                try append(plan, &writer)
            }
            lock.release()
            return merged
        }
        report.changed += merged.changed
        report.conflicts += merged.conflicts
        report.dropped += merged.dropped
    }

    private func merge(
        _ entry: Entry, _ past: CommonPast, _ ours: inout LogView, _ values: inout CopiedValues,
        into batch: inout TransactionBatch, _ report: inout MergeReport
    ) throws(LogError) {
        let old = try ours.find(entry.name)
        let foreign: ForeignEntry
        do throws(LogError) { foreign = try ForeignEntry(entry, of: &values, knownAs: old, in: ours) } catch {
            throw error.ofCopy
        }
        let pair = EntryPair(
            own: old, other: foreign.entry, hasOwnChanged: old.flatMap(past.hasOwnChanged),
            hasOtherChanged: past.hasOtherChanged(entry))
        var result = old
        let (history, now) = (ours.header.history, Clock.milliseconds)
        if case .changed(var merged) = pair.merged(at: now) {
            merged.sequence = ours.head.sequence + 1
            if history.versions == 0 { merged.dropHistory(beyond: history, now: now) }
            try merged.checkSize()
            let boxes: [[UInt8]?]
            do throws(LogError) { boxes = try foreign.newBoxes(in: merged, replacing: old, from: &values) } catch {
                throw error.ofCopy
            }
            batch.move(merged, boxes, replacing: old)
            report.changed.append(entry.name.text)
            result = merged
        }
        guard pair.isConflict, let result else { return }
        report.conflicts.append(entry.name.text)
        if let version = pair.superseded(by: result), !result.has(version) { report.dropped.append(entry.name.text) }
    }

    /// Tells damage of the other copy from that of this one.
    private func ofCopy<Result>(_ read: () throws(LogError) -> Result) throws(LogError) -> Result {
        do throws(LogError) { return try read() } catch { throw error.ofCopy }
    }
}

extension LogError {
    fileprivate var ofCopy: LogError { code == .damaged ? LogError(.copyDamaged, detail) : self }

    static let serverGone = LogError(
        .unreachable,
        "The server has gone while what was changed offline was merged. It waits until the server is back.")
}

/// Entries of another copy that are merged together, while nobody else can write.
private struct MergeStep {
    /// Those that have changed there since this side took its state over.
    private(set) var entries: [Entry] = []
    private(set) var size: UInt64 = 0
    /// Whether there was nothing left.
    private(set) var isEnd = true

    private static let limits = (entries: 20_000, size: UInt64(64 << 20))

    init(_ merge: inout EntryMerge, _ past: CommonPast) throws(LogError) {
        while entries.count < MergeStep.limits.entries, size < MergeStep.limits.size, let entry = try merge.next() {
            isEnd = false
            size += entry.footprint
            if past.hasOtherChanged(entry) != false { entries.append(entry) }
        }
    }
}

/// Whose key slots and data key count after a merge.
private struct MergedKeys {
    let choice: MergeReport.Keys
    private let theirs: LogView
    private let labels: [SlotLabel]
    private let members: [MemberRecord]
    private let formerMemoryKeys: [[UInt8]]

    init(_ ours: LogView, _ theirs: LogView) throws(LogError) {
        self.theirs = theirs
        let manifest = try theirs.manifest()
        (labels, members) = (manifest.labels, manifest.members)
        let (own, other) = (ours.keys.memoryKey, theirs.keys.memoryKey)
        if own == other {
            (choice, formerMemoryKeys) = (ours.header.slots == theirs.header.slots ? .same : .own, [])
        } else if manifest.formerMemoryKeys.contains(own) {
            // This side's data key was given up there: whoever was locked out then must not come in again.
            (choice, formerMemoryKeys) = (.other, manifest.formerMemoryKeys)
        } else {
            // If both were rotated, machines may remember the vault under any of these keys.
            (choice, formerMemoryKeys) = (.own, manifest.formerMemoryKeys + [other])
        }
    }

    /// Those of the other copy, if they count.
    var taken: KeyRing? { choice == .other ? theirs.keys : nil }

    /// - Parameter isTaken: whether this side has the keys that count already.
    func change(
        _ header: Header, _ table: SlotTable, isTaken: Bool, merging known: KnownPositions?
    ) -> HeaderChange {
        // What one copy wants recorded does not go unrecorded because of the other one.
        let all = MemberRecord.joined(table.members.records, members)
        return HeaderChange(
            old: header, choice == .other ? SlotTable(theirs.header, labels, table.members, theirs.keys) : table,
            members: all.count > table.members.records.count ? all : nil, keys: isTaken ? nil : taken, merged: known,
            formerMemoryKeys: formerMemoryKeys, isAccessLogged: header.isAccessLogged || theirs.header.isAccessLogged)
    }
}
