package import LinuxSystem
package import SealedLog

extension RecordStore {
    /// Returns the lock of a store that the location leads to.
    package func locked(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock {
        guard let lock = try lock(kind, until: deadline) else { throw LogError(.conflict, "another store is there") }
        return lock
    }
}
