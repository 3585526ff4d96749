import SealedLog
import Sealing

extension Keychain {
    /// Acquires a lock that belongs to the vault. Only a hash of its name is visible to others, and only while it is
    /// held.
    ///
    /// For a vault in a database, this requires write access to the vault. The lock is lost with the connection to the
    /// server: see ``NameLock/check()``.
    public func acquireLock(_ name: String) async throws(VaultError) -> NameLock {
        let lock = try translated(storeLocation.namedLock(Int64(RunningHash.number(of: ownName(name)))))
        try await NameLock.wait { () throws(VaultError) in try translated(lock.tryLock()) }
        return NameLock {
            () throws(VaultError) in
            try self.translated(lock.check())
        } onRelease: {
            _ = lock
        }
    }
}
