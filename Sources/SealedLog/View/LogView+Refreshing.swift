private import Glibc
import LinuxSystem

extension LogView {
    /// Follows what was appended; false if something is doubtful.
    mutating func refresh() throws(LogError) -> Bool {
        if try isCurrent() { return true }
        guard case .clean = try catchUp() else { return false }
        return true
    }

    /// Whether the newest record is still there, and the path still leads to this file.
    func isInPlace() throws(LogError) -> Bool {
        guard try headIsThere() else { return false }
        return try store.isCurrent()
    }

    /// Whether the path was last looked at some time ago. A compaction announces itself; this is for a file that was
    /// put in place by other means. The coarse clock costs 5 ns, looking at the path a microsecond.
    mutating func isDueForLookAtPath() -> Bool {
        let now = LogView.coarseNow
        guard now >= lookedAtPath + 50 else { return false }
        lookedAtPath = now
        return true
    }

    static var coarseNow: UInt64 { UInt64(Clock.coarse) / 1_000_000 }

    /// The view of the file that lies at the path now, read while nobody can write.
    ///
    /// - Parameter seen: what this machine remembers of the vault; read before the file.
    /// - Throws: `exchanged` if it is another vault, `rolledBack` or `diverged` if it lacks what this view knows or what was seen;
    ///   else as opening.
    func reopened(until deadline: Deadline, knowing seen: LogPosition?) throws(LogError) -> LogView {
        while true {
            let store = try store.reopened()
            let lock = try store.lock(.shared, until: deadline)
            guard try store.isCurrent() else { continue }
            let view = try reopened(on: store, knowing: seen)
            lock.release()
            return view
        }
    }

    /// The same, of a store whose lock is held.
    func reopened(on store: any RecordStore, knowing seen: LogPosition?) throws(LogError) -> LogView {
        var (view, hint) = try LogView.start(store) { (header) throws(LogError) in
            guard header.vaultID == self.header.vaultID else { throw LogError(.exchanged, store.location) }
            return keys
        }
        let start = view
        _ = try view.followToEnd(hint, durable: durable, isSettled: true)
        let known = [durable] + (seen.map { [$0] } ?? [])
        for position in known where position.sequence <= view.head.sequence {
            guard try view.contains(position) == nil else { continue }
            view = start
            _ = try view.followToEnd(nil, durable: durable, isSettled: true)
            break
        }
        for position in known {
            if let alarm = try view.alarm(against: position) { throw alarm }
        }
        return view
    }
}
