import LinuxSystem
import Sealing

extension Keychain {
    /// Takes one byte of the file `VAULT.locks`, which is created beside the vault and stays empty. It is never
    /// removed: two processes could then have a file each. Which byte says nothing but a hash of the name, and only
    /// while the lock is held.
    public func acquireLock(_ name: String) async throws(VaultError) -> NameLock {
        let vault = resolvedPath(places.vault)
        let path = vault + ".locks"
        let lock: ByteLock
        do {
            let (files, offset) = (PosixFileSystem(), Keychain.offset(ofLock: ownName(name)))
            let file = try files.open(path, .readWriteOrCreateNoFollow)
            // One that root creates is its user's.
            if let owner = try? files.status(at: vault) { try? files.setOwner(of: file, asOf: owner) }
            lock = ByteLock(file, offset: offset)
        } catch { throw VaultError(system: error, path) }
        try await NameLock.wait { () throws(VaultError) in
            do throws(SystemError) { return try lock.tryLock() } catch { throw VaultError(system: error, path) }
        }
        return NameLock { _ = lock }
    }

    /// 62 bits of a hash: offsets of files are positive.
    private static func offset(ofLock name: String) -> Int64 {
        var hash = RunningHash()
        name.utf8.span.bytes.withUnsafeBytes { hash.update($0) }
        return hash.finish().prefix(8).reduce(0) { $0 << 8 | Int64($1) } & (1 << 62 - 1)
    }
}
