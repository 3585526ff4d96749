private import Glibc
import LinuxSystem

extension Preferences {
    /// Writes the changes that were held back to be coalesced; they are on the disk when this returns.
    ///
    /// - Throws: ``VaultError`` with `damaged`, `busy`, `unavailable`, `outcomeUnknown`; the changes stay pending.
    public func flush() throws(VaultError) {
        // The changes are taken under the writer's lock, so that the later of two flushes writes the later values.
        try writer.withLock { _ throws(VaultError) in
            let taken = pending.withLock { $0.changes }
            guard !taken.isEmpty else { return }
            _ = try replaceFile(StoreBatch(taken))
            pending.withLock { $0.wrote(taken) }
        }
    }

    /// Flushes, and reports an error to ``failures``: for callers that cannot throw.
    func flushReporting() {
        do { try flush() } catch { failures.report(error, key: (try? path) ?? "preferences") }
    }

    /// Adds a batch to the pending changes, and schedules their writing.
    func gather(_ batch: StoreBatch, _ interval: Duration) throws(VaultError) -> Bool {
        // Values that cannot be written are refused now, while the error can still be thrown.
        _ = try file.get().serialized(batch.propertyLists().compactMapValues { $0 }, current().format)
        let (holds, isFirst) = try pending.withLock { (pending) throws(VaultError) in
            // Read under the lock: changes that leave the pending ones are in the file by then.
            let present = try current()
            let holds = try batch.holds { (key) throws(VaultError) in pending.changes[key] ?? present.value(of: key) }
            return (holds, holds && pending.add(batch.changes))
        }
        guard isFirst else { return holds }
        Task.detached { [weak self] in
            // The time is computed again after each sleep, since a flush may have come first.
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
    /// A year: clocks cannot add any duration.
    private static let longestInterval: Duration = .seconds(365 * 86_400)

    /// Adds changes. Returns whether to schedule a write.
    mutating func add(_ new: [String: StoredValue?]) -> Bool {
        for (key, value) in new { changes.updateValue(value, forKey: key) }
        defer { isScheduled = true }
        return !isScheduled
    }

    /// Returns when the scheduled write is due; nil, which ends the schedule, if it is now.
    mutating func nextWrite(every interval: Duration) -> ContinuousClock.Instant? {
        let next = lastWrite.map { $0 + min(interval, PendingChanges.longestInterval) }
        if let next, next > .now { return next }
        isScheduled = false
        // The interval counts from the start of a write, even of a failed one: changes during it need the next write.
        lastWrite = .now
        return nil
    }

    /// Drops the changes that were written, unless they have changed since.
    mutating func wrote(_ written: [String: StoredValue?]) {
        lastWrite = .now
        for (key, value) in written where changes[key] == .some(value) { changes.removeValue(forKey: key) }
    }
}

/// Writes the pending changes of coalescing preferences when the process exits.
enum ExitFlush {
    private static let references = Mutex<[@Sendable () -> Preferences?]>([])
    /// A static property is initialized once, at its first use.
    private static let registration = atexit {
        for reference in ExitFlush.references.withLock({ $0 }) { reference()?.flushReporting() }
    }

    static func register(_ preferences: Preferences) {
        references.withLock { $0 = $0.filter { $0() != nil } + [{ [weak preferences] in preferences }] }
        _ = registration
    }
}
