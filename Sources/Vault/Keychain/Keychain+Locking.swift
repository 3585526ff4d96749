import SealedLog
import Sealing

extension Keychain {
    /// Takes a lock that belongs to the vault. Which one says nothing but a hash of the name, and only while it is
    /// held.
    ///
    /// Of a vault in a database, only those can take it who may write to the vault. It is lost with the connection to
    /// the server: see ``NameLock/check()``.
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
