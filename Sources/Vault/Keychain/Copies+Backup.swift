import LinuxSystem
package import SealedLog

extension Keychain.Copies {
    /// Copies a consistent snapshot of the vault to another file, which the same keys open. Other processes can use the
    /// vault in the meantime. The whole copy is read and authenticated before it is renamed to its final path.
    ///
    /// Back up the key file somewhere else. To restore the copy, replace the vault with it. This machine then raises a
    /// rollback alarm, because it remembers a newer vault; see <doc:RestoringFromBackups>.
    ///
    /// - Parameter isReplacing: whether to replace an earlier copy of the vault at `path`. The earlier copy is replaced
    ///   only if the new copy contains all of its changes. Any other file is left alone.
    /// - Throws: ``VaultError`` with `exists` if a file at `path` was left alone; `invalid` if `path` is unusable, or
    ///   is the path of the vault or its key file; `damaged`, `busy` or `unavailable` if no copy was created;
    ///   `outcomeUnknown` if the copy is complete, but a power loss may undo it.
    public func backUp(to path: String, replacing isReplacing: Bool = false) throws(VaultError) {
        _ = try backUp(to: path, replacing: isReplacing, progress: nil)
    }

    package func backUp(
        to path: String, replacing isReplacing: Bool, progress: UpkeepProgress?
    ) throws(VaultError) -> VerificationReport {
        let target = try keychain.location.storeLocation(
            of: path, "The backup's path", in: keychain.storeLocation.files)
        // If `offline` is `always`, the target may be the vault's own URL, which is then restored from the local copy.
        let taken = [
            keychain.options.offline == .always ? "" : keychain.storeLocation.path,
            resolvedPath(keychain.location.keyFile),
        ]
        guard !taken.contains(target.path) else {
            throw VaultError(.invalid, "The backup's path is that of the vault or its key file: \(path). Name another.")
        }
        // An existing target is refused before anything is copied.
        guard isReplacing || (try? target.exists()) != true else {
            throw VaultError(.exists, "\(path) already exists; it was left alone.")
        }
        defer { progress?.finish() }
        do throws(LogError) {
            var unlocker = KeychainUnlocker(
                keychain.location, keychain.options.unlocking, in: keychain.storeLocation.files)
            let report = try keychain.log.backUp(
                to: target, replacing: isReplacing,
                isOlderAccepted: keychain.options.acceptedAlarms.contains(.rolledBack), with: &unlocker, progress)
            keychain.reportNotices()
            return report
        } catch  where error.code == .outcomeUnknown {
            throw VaultError(unflushed: path, error)
        } catch  where [.notContained, .notCompared].contains(error.code) {
            throw VaultError(
                .exists, VaultError(error, keychain.location).message,
                causes: [
                    .targetLacked(keychain.location.vault, target: path, isOffline: keychain.options.offline == .always)
                ])
        } catch  where error.code == .notAFile && target.hasNoFile {
            throw VaultError(.exists, "\(path) is \(error.detail), not a file; it was left alone. Name another path.")
        } catch { throw VaultError(error, keychain.location) }
    }
}

extension StoreLocation {
    /// Whether this path has something other than a regular file. If so, `notAFile` refers to it, not to the vault.
    fileprivate var hasNoFile: Bool { (try? files.status(at: path))?.isRegularFile == false }
}
