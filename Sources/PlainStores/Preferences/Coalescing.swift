private import Glibc
import LinuxSystem

extension Preferences {
    /// Writes the pending changes of preferences that coalesce writes, and returns once these changes are on the disk.
    ///
    /// - Throws: ``VaultError`` with `damaged`, `busy`, `unavailable` or `outcomeUnknown`. The changes stay pending.
    public func flush() throws(VaultError) {
        // The changes are read under the writer's lock; otherwise the later of two flushes could write older values.
        try writer.withLock { _ throws(VaultError) in
            let taken = pending.withLock { $0.changes }
            guard !taken.isEmpty else { return }
            _ = try replaceFile(StoreBatch(taken))
            pending.withLock { $0.wrote(taken) }
        }
    }

    /// Writes the pending changes. Reports any error to ``failures``, because this method's callers cannot throw.
    func flushReporting() {
        do { try flush() } catch { failures.report(error, key: (try? path) ?? "preferences") }
    }

    /// Adds a batch to the pending changes if its expectations hold, and schedules a write. Returns whether they hold.
    func gather(_ batch: StoreBatch, _ interval: Duration) throws(VaultError) -> Bool {
        // Values that cannot be written are refused now, while the caller can still receive the error.
        _ = try file.get().serialized(batch.propertyLists().compactMapValues { $0 }, current().format)
        let (holds, isFirst) = try pending.withLock { (pending) throws(VaultError) in
            // `pending` stays locked while the file is read. Otherwise, a change that is being written could be missed.
            let present = try current()
            let holds = try batch.holds { (key) throws(VaultError) in pending.changes[key] ?? present.value(of: key) }
            return (holds, holds && pending.add(batch.changes))
        }
        guard isFirst else { return holds }
        Task.detached { [weak self] in
            // The due time is recomputed after each sleep, since `flush()` may write the changes during the sleep.
            while let instant = self?.pending.withLock({ $0.nextWrite(every: interval) }) {
                try? await Task.sleep(until: instant, clock: .continuous)
            }
            self?.flushReporting()
        }
        return holds
    }
}

struct PendingChanges: Sendable {
    private(set) var changes: [String: StoredValue?] = [:]
    private var isScheduled = false
    private var lastWrite: ContinuousClock.Instant?
    /// The maximum interval, a year. Adding a huge duration to a clock's time would overflow.
    private static let longestInterval: Duration = .seconds(365 * 86_400)

    /// Adds changes, and returns whether the caller must schedule a write.
    mutating func add(_ new: [String: StoredValue?]) -> Bool {
        for (key, value) in new { changes.updateValue(value, forKey: key) }
        defer { isScheduled = true }
        return !isScheduled
    }

    /// Returns the time at which the scheduled write is due. If it is already due, unschedules it and returns nil.
    mutating func nextWrite(every interval: Duration) -> ContinuousClock.Instant? {
        let next = lastWrite.map { $0 + min(interval, PendingChanges.longestInterval) }
        if let next, next > .now { return next }
        isScheduled = false
        // Even a failed write delays the next one. A change that is made during the write schedules another write.
        lastWrite = .now
        return nil
    }

    /// Removes each written change from the pending changes, unless a newer change to the same key has replaced it.
    mutating func wrote(_ written: [String: StoredValue?]) {
        lastWrite = .now
        for (key, value) in written where changes[key] == .some(value) { changes.removeValue(forKey: key) }
    }
}

/// The preferences whose pending changes are written when the process exits.
enum ExitFlush {
    private static let references = Mutex<[@Sendable () -> Preferences?]>([])
    /// The registration of the exit handler. It happens only once, because a static property is initialized only once.
    private static let registration = atexit {
        for reference in ExitFlush.references.withLock({ $0 }) { reference()?.flushReporting() }
    }

    static func register(_ preferences: Preferences) {
        references.withLock { $0 = $0.filter { $0() != nil } + [{ [weak preferences] in preferences }] }
        _ = registration
    }
}
