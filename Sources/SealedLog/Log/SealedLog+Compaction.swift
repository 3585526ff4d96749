private import Glibc
import LinuxSystem
package import Sealing
import Synchronization

/// The outcome of a compaction: sizes of the file in bytes.
package struct CompactionReport: Hashable, Sendable, Encodable {
    /// The old file's size.
    package let sizeBefore: Int
    /// The new file's size.
    package let sizeAfter: Int
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

    func begin(_ total: UInt64) { totalBytes.store(total, ordering: .relaxed) }
    func advance(by bytes: UInt64) { doneBytes.add(bytes, ordering: .relaxed) }

    /// Sets the fraction to 1: the total was an estimate.
    package func finish() {
        begin(1)
        doneBytes.store(1, ordering: .relaxed)
    }
}

extension SealedLog {
    /// Rewrites the vault without dead bytes.
    ///
    /// - Throws: `busy`, `unavailable`, `damaged`: the vault is unchanged; also what opening a replaced file throws.
    package func compact(timeout: Duration, _ counter: UpkeepProgress? = nil) throws(LogError) -> CompactionReport {
        try compactRemembering(slots: nil, timeout: timeout, counter)
    }

    /// Rewrites the vault, and raises the cost of a guess at a key file that was not generated.
    ///
    /// - Throws: what ``compact(timeout:)`` throws; `invalid`, `keyWrong`.
    package func compact(
        raising key: borrowing KeyFile, to limits: KeyDerivation.StretchLimits, timeout: Duration,
        _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> CompactionReport {
        let old = try read { (view) throws(LogError) in view.header }
        // Before any lock is taken: stretching takes long.
        let new = try old.slots.raising(key, to: limits)
        return try compactRemembering(slots: (old.slots, new), timeout: timeout, counter)
    }

    /// Compacts on request. The next process knows of damage that is found.
    private func compactRemembering(
        slots: (old: [KeySlot], new: [KeySlot])?, timeout: Duration, _ counter: UpkeepProgress?
    ) throws(LogError) -> CompactionReport {
        try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: Deadline(after: timeout))
            guard slots == nil || view.withLock({ $0.header.slots }) == slots?.old else { throw LogError(.conflict) }
            do throws(LogError) { return try compact(&writer, lock, slots: slots?.new, counter) } catch {
                if error.code == .damaged { rememberFailure(error) }
                throw error
            }
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

    func compact(
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
        var compactor = Compactor(
            old: old, counter: counter, manifest: try old.manifest(),
            checkpoint: CheckpointWriter(into: store, keys: keys, expecting: 4_096))
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
        // Remembered once its name is durable: until then a power loss may bring the old file back.
        if (try? flushName(&writer)) != nil { memory?.remember(new.origin) }
        memory?.forgetUpkeep()
        let report = CompactionReport(
            sizeBefore: Int(clamping: try old.store.size()), sizeAfter: Int(clamping: try store.size()))
        newLock.release()
        lock.release()
        return report
    }
}

/// Writes the compacted file of a vault: the newest entry of each name, and the values of present ones, still sealed.
private struct Compactor {
    let old: LogView
    let counter: UpkeepProgress?
    var manifest: Manifest
    var checkpoint: CheckpointWriter
    private let now = Clock.milliseconds

    /// Authenticates all records of the old file, with their payloads, and the header's copy: a change to them must not
    /// disappear with the file.
    mutating func readRecords() throws(LogError) {
        // All records are read, and then the values that are present.
        counter?.begin(2 * old.end)
        try old.checkHeaderCopy()
        manifest.chain.append(old.origin.authenticator)
        try old.forEachRecord(counter) { manifest.chain.append($0.authenticator) }
    }

    mutating func copyEntries() throws(LogError) {
        let boxes = try copyValues()
        var merge = try old.entries()
        while var entry = try merge.next() {
            if isOutdated(entry) { continue }
            try entry.content?.current.move(to: boxes)
            for index in entry.content?.earlier.indices ?? 0..<0 {
                try entry.content?.earlier[index].version.move(to: boxes)
            }
            counter?.advance(by: entry.footprint)
            try checkpoint.add(entry)
        }
    }

    /// Whether nothing remains of a name: it was removed, or its value expired, long ago. A time in the future, from a
    /// wrong clock, counts as young.
    private func isOutdated(_ entry: Entry) -> Bool {
        guard let end = entry.isRemoved ? entry.modified : entry.content?.expiry else { return false }
        return end < now && now - end >= Limits.tombstoneLifetime
    }

    /// Copies the values in the order of their old offsets: that of their names would show to a reader of both files.
    /// Returns the new places by the old offsets.
    private mutating func copyValues() throws(LogError) -> [UInt64: MovedBox] {
        var versions: [(offset: UInt64, length: Int)] = []
        var merge = try old.entries()
        while let entry = try merge.next() {
            if isOutdated(entry) { continue }
            versions += entry.versions.map { ($0.offset, $0.boxLength) }
        }
        versions.sort { $0.offset < $1.offset }
        var boxes: [UInt64: MovedBox] = [:]
        boxes.reserveCapacity(versions.count)
        // Reads neighbours with one system call.
        var reader = old.reader
        for (offset, length) in versions where boxes[offset] == nil {
            let box = try reader.bytes(at: offset, upTo: length)
            guard box.count == length else { throw .cut(at: offset) }
            counter?.advance(by: UInt64(length))
            let target = try checkpoint.write(value: box)
            boxes[offset] = (target, length)
        }
        return boxes
    }

    /// Continues the chain after the old file's last record.
    mutating func finish(after notice: Record, slots: [KeySlot]) throws(LogError) {
        manifest.chain = Array((manifest.chain + [notice.authenticator]).suffix(Limits.chainLength))
        let sequence = notice.index.sequence + 1
        guard sequence < Limits.sequence else { throw LogError(.invalid, "the vault has used up its sequence numbers") }
        try checkpoint.finish(manifest, vaultID: old.header.vaultID, sequence: sequence, slots: slots)
    }
}

/// The offset of a value's box in the new file, and its length.
private typealias MovedBox = (offset: UInt64, length: Int)

extension StoredVersion {
    fileprivate mutating func move(to boxes: [UInt64: MovedBox]) throws(LogError) {
        guard let box = boxes[offset], box.length == boxLength else { throw LogError.damaged("a value", at: offset) }
        offset = box.offset
    }
}

extension LogView {
    /// Reads and authenticates all records, with their payloads, and passes them to `body`.
    func forEachRecord(_ counter: UpkeepProgress?, _ body: (Record) throws(LogError) -> Void) throws(LogError) {
        var reader = reader
        var (position, offset) = (origin, header.checkpointEnd)
        while offset < end {
            guard case .record(let record) = try reader.record(at: offset, after: position) else {
                throw LogError.damaged("a record", at: offset)
            }
            guard try reader.payloadHolds(record) else { throw LogError.damaged("a payload", at: offset) }
            try body(record)
            (position, offset) = (record.position, record.end)
            counter?.advance(by: record.frame.recordLength)
        }
    }
}
