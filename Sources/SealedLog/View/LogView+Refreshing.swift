private import Glibc

extension LogView {
    /// Follows what was appended; false if something is doubtful or the file has been replaced.
    mutating func refresh() throws(LogError) -> Bool {
        if try !isCurrent() {
            guard case .clean = try catchUp() else { return false }
        }
        guard isCompactionAnnounced || isDueForLookAtPath() else { return true }
        guard try headIsThere() else { return false }
        return try store.isCurrent()
    }

    /// Whether the path was last looked at some time ago. A compaction announces itself; this is for a file that was
    /// put in place by other means. The coarse clock costs 5 ns, looking at the path a microsecond.
    private mutating func isDueForLookAtPath() -> Bool {
        let now = LogView.coarseNow
        guard now >= lookedAtPath + 50 else { return false }
        lookedAtPath = now
        return true
    }

    static var coarseNow: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
    }

    /// The view of the file that lies at the path now, read while nobody can write.
    ///
    /// - Throws: `exchanged` if it is another vault, `rolledBack` or `diverged` if it lacks what this view knows; else as opening.
    func reopened(until deadline: Deadline) throws(LogError) -> LogView {
        while true {
            let store = try store.reopened()
            let lock = try store.lock(.shared, until: deadline)
            guard try store.isCurrent() else { continue }
            let view = try reopened(on: store)
            lock.release()
            return view
        }
    }

    /// The same, of a store whose lock is held.
    func reopened(on store: any RecordStore) throws(LogError) -> LogView {
        var (view, hint) = try LogView.start(store) { (header) throws(LogError) in
            guard header.vaultID == self.header.vaultID else { throw LogError(.exchanged, store.location) }
            return keys
        }
        let start = view
        _ = try view.followToEnd(hint, durable: durable, isSettled: true)
        if durable.sequence <= view.head.sequence, try view.contains(durable) == nil {
            view = start
            _ = try view.followToEnd(nil, durable: durable, isSettled: true)
        }
        if let alarm = try view.alarm(against: durable) { throw alarm }
        return view
    }
}
