import Glibc
import Synchronization
import Vault

/// A store in memory that keeps every rule while one thread at a time uses it, and breaks one if several do.
final class RacyStore: ValueStore {
    enum Flaw: Sendable {
        /// The check and the change take the lock one after the other.
        case checksBeforeItLocks
        /// Writers exclude each other, but readers see each change as soon as it is made.
        case changesKeyByKey
        /// Observers are told when a change is accepted, and read it only after it was written.
        case tellsBeforeItWrites
    }

    let changes = ChangeFeed()
    let failures = FailureLog()
    private let flaw: Flaw
    private let values = Mutex<[String: StoredValue]>([:])
    private let writing = Mutex(())

    init(_ flaw: Flaw) { self.flaw = flaw }

    func value(of key: String) -> StoredValue? { values.withLock { $0[key] } }

    func keys(prefix: String) -> [String] {
        contents(prefix: prefix).keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    func contents(prefix: String) -> [String: StoredValue] {
        values.withLock { values in values.filter { $0.key.utf8.starts(with: prefix.utf8) } }
    }

    func commit(_ batch: StoreBatch) -> Bool {
        if flaw == .checksBeforeItLocks {
            guard holds(batch) else { return false }
            values.withLock { values in for (key, value) in batch.changes { values[key] = value } }
        } else {
            guard writing.withLock({ _ in commitAlone(batch) }) else { return false }
        }
        if flaw != .tellsBeforeItWrites { changes.notify() }
        return true
    }

    /// Only readers may be at work meanwhile.
    private func commitAlone(_ batch: StoreBatch) -> Bool {
        guard holds(batch) else { return false }
        if flaw == .changesKeyByKey {
            for (key, value) in batch.changes { values.withLock { $0[key] = value } }
            return true
        }
        changes.notify()
        // As long as a disk takes.
        usleep(100)
        values.withLock { values in for (key, value) in batch.changes { values[key] = value } }
        return true
    }

    private func holds(_ batch: StoreBatch) -> Bool {
        values.withLock { values in batch.expectations.allSatisfy { values[$0.key] == $0.value } }
    }
}
