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

extension SealedLog {
    /// Rewrites the vault without dead bytes.
    ///
    /// - Throws: `busy`, `unavailable`, `damaged`: the vault is unchanged; also what opening a replaced file throws.
    package func compact(timeout: Duration, _ counter: UpkeepProgress? = nil) throws(LogError) -> CompactionReport {
        try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: Deadline(after: timeout))
            return try compactRemembering(&writer, lock, slots: nil, counter)
        }
    }

    /// Rewrites the vault, and raises the cost of a guess at a key file that was not generated.
    ///
    /// - Throws: what ``compact(timeout:)`` throws; `invalid`, `keyWrong`.
    package func compact(
        raising key: borrowing KeyFile, to limits: KeyDerivation.StretchLimits, timeout: Duration,
        _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> CompactionReport {
        let header = try read { (view) throws(LogError) in view.header }
        // Before any lock is taken: stretching takes long.
        let slots = try header.slots(raising: key, to: limits)
        return try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: Deadline(after: timeout))
            guard view.withLock({ $0.header.slots == header.slots }) else { throw LogError(.conflict) }
            return try compactRemembering(&writer, lock, slots: slots, counter)
        }
    }

    /// Compacts on request. The next process knows of damage that is found.
    private func compactRemembering(
        _ writer: inout Writer, _ lock: consuming StoreLock, slots: [KeySlot]?, _ counter: UpkeepProgress?
    ) throws(LogError) -> CompactionReport {
        do throws(LogError) { return try compact(&writer, lock, slots: slots, counter) } catch {
            if error.code == .damaged { rememberFailure(error) }
            throw error
        }
    }

    /// Compacts after a transaction, which is not undone if this fails.
    func compactIfPossible(_ writer: inout Writer, _ lock: consuming StoreLock) {
        do throws(LogError) { _ = try compact(&writer, lock) } catch {
            writer.compactAfter = rememberFailure(error).retryAt
            notices.post(.compactionFailed(error))
        }
    }

    /// Lets the next process know why a compaction or a verification failed.
    @discardableResult
    func rememberFailure(_ error: LogError) -> RollbackMemory.Upkeep {
        let (head, origin) = view.withLock { ($0.head, $0.origin.authenticator) }
        let upkeep = RollbackMemory.Upkeep(
            origin: origin, retryAt: head.sequence + UInt64(Limits.recordsBeforeMinorCheckpoint.upperBound),
            error: error)
        memory?.rememberUpkeep(upkeep)
        return upkeep
    }

    /// - Parameter slots: replace those of the vault; nil to keep them.
    private func compact(
        _ writer: inout Writer, _ lock: consuming StoreLock, slots: [KeySlot]? = nil, _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> CompactionReport {
        // The notice will count as seen, so its file has to be the one that is found after a power loss.
        try flushName(&writer)
        let old = view.withLock { $0 }
        let store = try old.store.makeReplacement()
        var isPublished = false
        defer { if !isPublished { store.discard() } }
        // Before the rename: no other process may write between it and the end of this compaction.
        let newLock = try store.lock(.exclusive, until: Deadline(after: .zero))
        var compactor = try Compactor(old, into: store, counter)
        try compactor.readRecords()
        try compactor.copyEntries()

        let notice = try old.noticePlan()
        try append(notice, &writer)
        try compactor.finish(after: notice.record, slots: slots ?? old.header.slots)
        // Flushed before the look at the path, which leaves hardly any time for another file to get there.
        try store.synchronize()
        guard try old.store.isCurrent() else { throw LogError(SystemError(ESTALE, "replace"), old.store.location) }
        try store.publish(replacing: true)
        isPublished = true

        let new = try LogView.settled(store, keys)
        view.withLock { $0 = new }
        register()
        rememberCompaction(new, &writer)
        memory?.forgetUpkeep()
        let report = CompactionReport(
            sizeBefore: Int(clamping: try old.store.size()), sizeAfter: Int(clamping: try store.size()))
        newLock.release()
        lock.release()
        return report
    }

    /// Remembers the renamed file once its name is durable: until then a power loss may bring the old one back.
    private func rememberCompaction(_ view: LogView, _ writer: inout Writer) {
        do throws(LogError) { try flushName(&writer) } catch { return }
        memory?.remember(view.origin)
    }
}
