private import Glibc
import LinuxSystem
package import Sealing

/// The outcome of a compaction: sizes of the file in bytes.
public struct CompactionReport: Hashable, Sendable, Encodable {
    /// The old file's size.
    public let sizeBefore: Int
    /// The new file's size.
    public let sizeAfter: Int

    package init(sizeBefore: Int, sizeAfter: Int) {
        (self.sizeBefore, self.sizeAfter) = (sizeBefore, sizeAfter)
    }
}

extension LogView {
    /// Whether dead bytes or the minor checkpoint have passed their share.
    var isCompactionDue: Bool {
        if let minor, minor.entries > Limits.minorEntriesFloor, let totals,
            minor.entries > totals.entries / 16
        {
            return true
        }
        guard let totals else { return false }
        if minorSize > Limits.minorSize { return true }
        return totals.deadBytes > Limits.deadBytesFloor && totals.deadBytes > totals.liveBytes / 2
    }
}

extension SealedLog {
    /// Writes the vault anew, without what is dead.
    ///
    /// - Throws: `busy`, `unavailable`, `damaged`: the vault is as it was; as opening a replaced file.
    package func compact(timeout: Duration, _ counter: UpkeepProgress? = nil) throws(LogError) -> CompactionReport {
        try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: Deadline(after: timeout))
            return try compactRemembering(&writer, lock, slots: nil, counter)
        }
    }

    /// Writes the vault anew, and raises what a guess at a key file costs that was not generated.
    ///
    /// - Throws: as ``compact(timeout:)``; `invalid`, `keyWrong`.
    package func compact(
        raising key: borrowing KeyFile, to limits: KeyDerivation.StretchLimits, timeout: Duration,
        _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> CompactionReport {
        let header = try read { (view) throws(LogError) in view.header }
        // Before any lock is taken: it takes its time.
        let slots = try header.slots(raising: key, to: limits)
        return try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: Deadline(after: timeout))
            guard view.withLock({ $0.header.slots == header.slots }) else { throw LogError(.conflict) }
            return try compactRemembering(&writer, lock, slots: slots, counter)
        }
    }

    /// Compacts because someone asks for it: damage that it meets is known to the next process.
    private func compactRemembering(
        _ writer: inout Writer, _ lock: consuming StoreLock, slots: [KeySlot]?, _ counter: UpkeepProgress?
    ) throws(LogError) -> CompactionReport {
        do throws(LogError) { return try compact(&writer, lock, slots: slots, counter) } catch {
            if error.code == .damaged { rememberFailure(error) }
            throw error
        }
    }

    /// Whether a compaction is due, and none has failed a short while ago, in this process or in another.
    func isTimeToCompact(_ writer: inout Writer) -> Bool {
        let (head, origin, isDue) = view.withLock { ($0.head, $0.origin.authenticator, $0.isCompactionDue) }
        guard isDue, head.sequence >= writer.compactAfter else { return false }
        guard let upkeep = memory?.upkeep(), upkeep.origin == origin, head.sequence < upkeep.retryAt else {
            return true
        }
        notices.post(.compactionFailed(upkeep.error))
        writer.compactAfter = upkeep.retryAt
        return false
    }

    /// Compacts on the way of a transaction, which is done whatever comes of this.
    func compactIfPossible(_ writer: inout Writer, _ lock: consuming StoreLock) {
        do throws(LogError) { _ = try compact(&writer, lock) } catch {
            writer.compactAfter = rememberFailure(error).retryAt
            notices.post(.compactionFailed(error))
        }
    }

    /// Lets the next process know what a compaction or a verification met.
    @discardableResult
    func rememberFailure(_ error: LogError) -> RollbackMemory.Upkeep {
        let (head, origin) = view.withLock { ($0.head, $0.origin.authenticator) }
        let upkeep = RollbackMemory.Upkeep(
            origin: origin, retryAt: head.sequence + UInt64(Limits.recordsBeforeMinorCheckpoint.upperBound),
            error: error)
        memory?.rememberUpkeep(upkeep)
        return upkeep
    }

    /// - Parameter slots: in place of those that there are.
    private func compact(
        _ writer: inout Writer, _ lock: consuming StoreLock, slots: [KeySlot]? = nil, _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> CompactionReport {
        // The notice will count as seen, so the file that it goes to has to be the one that is found after power loss.
        try makeLocationDurable(&writer)
        let old = view.withLock { $0 }
        let store = try old.store.makeReplacement()
        var isPublished = false
        defer { if !isPublished { store.discard() } }
        // Before it gets its name: nobody may write between the rename and our next record.
        let newLock = try store.lock(.exclusive, until: Deadline(after: .zero))
        var compactor = try Compactor(old, into: store, counter)
        try compactor.readRecords()
        try compactor.copyEntries()

        let notice = try old.noticePlan()
        try append(notice, &writer)
        try compactor.finish(after: notice.record, slots: slots ?? old.header.slots)
        // Flushed before the look at the path, so that hardly any time is left for another file to come there.
        try store.synchronize()
        guard try old.store.isCurrent() else { throw LogError(SystemError(ESTALE, "replace"), old.store.location) }
        try store.publish(replacing: true)
        isPublished = true

        var (new, _) = try LogView.start(store) { (_) throws(LogError) in keys }
        _ = try new.followToEnd(nil, durable: nil, isSettled: true)
        let next = new
        view.withLock { $0 = next }
        register()
        rememberCompaction(next, &writer)
        memory?.forgetUpkeep()
        let report = CompactionReport(
            sizeBefore: Int(clamping: try old.store.size()), sizeAfter: Int(clamping: try store.size()))
        newLock.release()
        lock.release()
        return report
    }

    /// The renamed file counts as seen only once its name is durable; until then power loss may bring the old one back.
    private func rememberCompaction(_ view: LogView, _ writer: inout Writer) {
        do throws(LogError) { try makeLocationDurable(&writer) } catch { return }
        memory?.remember(view.origin)
    }
}
