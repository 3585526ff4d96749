import LinuxSystem
import Sealing
import Synchronization

extension SealedLog {
    /// Writes a record behind the end, durably.
    ///
    /// - Throws: `unavailable` when the old state holds; `outcomeUnknown` when nobody can tell.
    func append(_ plan: RecordPlan, _ writer: inout Writer) throws(LogError) {
        let store = view.withLock { $0.store }
        try makeRoom(for: plan.record, in: store, &writer)
        do throws(LogError) {
            try store.write(plan.bytes, at: plan.record.offset)
            try store.synchronize()
        } catch {
            try takeBack(plan.record, in: store, after: error, &writer)
        }
        view.withLock { view in
            // A reader of this process may have come across it already.
            if view.head == plan.record.previous { view.apply(plan.record) }
            if view.head == plan.record.position { view.durable = view.head }
        }
        if plan.record.index.tree != nil {
            // Saves readers the records before; if it does not last, nothing is lost.
            try? store.write(
                Hint(offset: plan.record.offset, sequence: plan.record.index.sequence).encoded,
                at: UInt64(Header.hintOffset))
        }
        memory?.remember(plan.record.position)
    }

    /// Writes zeros where the record will lie and beyond: over blocks that are there already a write needs no change to
    /// the file system's own records, which makes it cheaper by a third, and a torn one shows by the zeros in it.
    ///
    /// What others left there is cleared: a clearing that was cut short may have begun at the front, with zeros that
    /// pass for the log's end. Behind a record it would be damage, and in place of one that is torn it would not look
    /// like zeros.
    private func makeRoom(
        for record: Record, in store: any RecordStore, _ writer: inout Writer
    ) throws(LogError) {
        let size = try store.size()
        let nextHead = record.end + UInt64(Frame.headSize)
        if try !store.isZero(record.offset..<max(record.offset, min(nextHead, size))) {
            try store.clear(record.offset..<size)
            try flush(store, &writer)
        }
        guard record.end > size else { return }
        // A large record fills its own room: writing that twice would cost more than it saves.
        let isLarge = record.frame.recordLength > 1 << 20
        let newSize = (record.end / Limits.growth + 1) * Limits.growth
        if !isLarge { try store.writeZeros(size..<newSize) }
    }

    /// Makes durable what lies in the file before anything of one's own is written.
    ///
    /// - Throws: `outcomeUnknown`, and nothing more is written: whether another's record lasts, nobody can tell then.
    func flush(_ store: any RecordStore, _ writer: inout Writer) throws(LogError) {
        do throws(LogError) { try store.synchronize() } catch {
            writer.isPoisoned = true
            throw LogError(.outcomeUnknown, error.detail, systemError: error.systemError)
        }
    }

    /// After a failed write or flush the page cache cannot be believed: the record is overwritten with zeros.
    private func takeBack(
        _ record: Record, in store: any RecordStore, after failure: LogError, _ writer: inout Writer
    ) throws(LogError) -> Never {
        do throws(LogError) {
            let end = min(record.end, try store.size())
            if record.offset < end { try store.clear(record.offset..<end) }
            try store.synchronize()
            try view.withLock { (view) throws(LogError) in
                // A reader of this process may have followed the record that is gone now.
                if view.head == record.position { view = try view.reopenedBehind(record) }
            }
        } catch {
            writer.isPoisoned = true
            throw LogError(.outcomeUnknown, failure.detail, systemError: failure.systemError)
        }
        throw failure
    }
}

extension Record {
    /// The position that the record follows.
    var previous: LogPosition { LogPosition(sequence: index.sequence - 1, authenticator: index.previous) }
}

extension LogView {
    /// The view of the same store without a record that was taken back.
    fileprivate func reopenedBehind(_ record: Record) throws(LogError) -> LogView {
        var (view, hint) = try LogView.start(store) { (_) throws(LogError) in keys }
        _ = try view.followToEnd(hint, durable: nil, isSettled: true)
        return view
    }
}
