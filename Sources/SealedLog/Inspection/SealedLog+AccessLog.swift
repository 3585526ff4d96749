import LinuxSystem
import Sealing

extension SealedLog {
    // These methods throw `accessLogUnusable`, `busy`, and any error that a read of the vault throws.

    package func isAccessLogged() throws(LogError) -> Bool {
        try read { (view) throws(LogError) in view.header.isAccessLogged }
    }

    /// Switches the access log on or off for all users of the vault.
    ///
    /// - Throws: any error from ``changeKeys(timeout:_:_:)``.
    package func setAccessLogged(_ isLogged: Bool, timeout: Duration) throws(LogError) {
        guard try isAccessLogged() != isLogged else { return }
        _ = try changeKeys(timeout: timeout) { (table) throws(LogError) in table.isAccessLogged = isLogged }
    }

    /// Records an access if the access log is on or `isForced` is true.
    ///
    /// - Parameters:
    ///   - folder: the folder of the rollback memory; nil if there is no such folder, in which case recording fails.
    ///   - access: returns the access. It is called only if the access is recorded.
    package func recordAccess(
        in folder: String?, evenIfOff isForced: Bool = false, timeout: Duration, _ access: () -> Access
    ) throws(LogError) {
        let wanted = try read { (view) throws(LogError) in
            view.header.isAccessLogged || isForced ? (try view.manifest(), view.keys) : nil
        }
        guard let (manifest, keys) = wanted else { return }
        try accessLog(in: folder, manifest, keys).append(access(), until: Deadline(after: timeout))
    }

    /// Checks that this machine can write the access log, even if the log is off.
    package func checkAccessLog(in folder: String?) throws(LogError) {
        let (manifest, keys) = try read { (view) throws(LogError) in (try view.manifest(), view.keys) }
        try accessLog(in: folder, manifest, keys).check()
    }

    /// Returns the accesses recorded on this machine, even if the access log is currently off.
    package func accesses(in folder: String?, timeout: Duration) throws(LogError) -> AccessReport {
        let (manifest, keys) = try read { (view) throws(LogError) in (try view.manifest(), view.keys) }
        return try accessLog(in: folder, manifest, keys).read(until: Deadline(after: timeout))
    }

    package func accessLogPath(in folder: String) -> String { "\(folder)/\(AccessLog.name(vaultID))" }

    private func accessLog(in path: String?, _ manifest: Manifest, _ keys: KeyRing) throws(LogError) -> AccessLog {
        guard let path else { throw LogError(.accessLogUnusable, "it needs a home folder") }
        let folder = memory?.folder ?? MemoryFolder(path: path, fileSystem: PosixFileSystem())
        let accessKeys = try AccessKeys(keys, formerMemoryKeys: manifest.formerMemoryKeys)
        return AccessLog(folder: folder, records: AccessRecords(vaultID: vaultID, keys: accessKeys))
    }
}
