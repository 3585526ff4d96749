import LinuxSystem
import Synchronization

extension Preferences {
    /// Writes the changes that ``Writing/coalesced(every:)`` has held back; they are on the disk when this returns.
    ///
    /// - Throws: ``VaultError`` with `damaged`, `busy`, `unavailable`, `outcomeUnknown`; the changes are still held then.
    public func flush() throws(VaultError) {
        // Taken within the writer's lock: of two flushes the later one has the later values.
        try writer.withLock { _ throws(VaultError) in
            let taken = pending.withLock { $0.changes }
            guard !taken.isEmpty else { return }
            _ = try replaceFile(StoreBatch(taken))
            pending.withLock { $0.wrote(taken) }
        }
    }

    /// Takes a batch into memory, and sees to it that it is written in time.
    func gather(_ batch: StoreBatch, _ interval: Duration) throws(VaultError) -> Bool {
        // What cannot be written is refused now, while there is someone to tell.
        _ = try file.get().serialized(batch.propertyLists().compactMapValues { $0 }, current().format)
        let (holds, writeAt) = try pending.withLock { (pending) throws(VaultError) in
            // Read within the lock: what leaves the pending changes is in the file by then.
            let present = try current().values
            let holds = try batch.holds { (key) throws(VaultError) in
                pending.changes[key] ?? present[key].map(StoredValue.init(propertyList:))
            }
            return (holds, holds ? pending.add(batch.changes, writingEvery: interval) : nil)
        }
        if let writeAt { schedule(at: writeAt, interval) }
        return holds
    }

    private func schedule(at instant: ContinuousClock.Instant, _ interval: Duration) {
        Task.detached { [weak self] in
            try? await Task.sleep(until: instant, clock: .continuous)
            self?.writePending(interval)
        }
    }

    private func writePending(_ interval: Duration) {
        // Someone may have flushed since this write was planned.
        if let later = pending.withLock({ $0.postponed(writingEvery: interval) }) {
            return schedule(at: later, interval)
        }
        do { try flush() } catch { reportUnwritten(error) }
    }

    func reportUnwritten(_ error: VaultError) {
        failures.report(error, key: (try? path) ?? "preferences")
    }
}
