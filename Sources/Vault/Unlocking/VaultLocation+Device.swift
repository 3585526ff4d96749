import LinuxSystem
import SealedFormat

extension VaultLocation {
    /// Returns this machine's device as text, and creates the device key if there is none. Throws
    /// ``VaultError/Code/locked`` if the key is unusable, or ``VaultError/Code/unavailable`` if it cannot be created.
    package func device() throws(VaultError) -> String { try translated(readDeviceKey()).device.text }

    /// Reads this machine's signing key, or creates it. Throws `deviceUnusable`, `busy` or `unavailable`.
    func readDeviceKey(in files: any FileSystem = PosixFileSystem()) throws(LogError) -> DeviceKey {
        guard let deviceKey else {
            throw LogError(.deviceUnusable, "This machine's device key has no location. Set HOME.")
        }
        let path = resolvedPath(deviceKey)
        do throws(LogError) {
            let isThere: Bool
            do throws(SystemError) { isThere = try unlessMissing(files.status(at: path)) != nil } catch {
                throw LogError(error, path)
            }
            // A resolved path contains no links, so links owned by other users are sought in the unresolved path.
            if !isThere,
                let other = linkOfAnotherUser(in: deviceKey) ?? files.partOfAnotherUser(above: path.parentFolder)
            {
                throw LogError(.untrustworthy, Distrust.anotherOwner.reason(of: other))
            }
            if !isThere,
                let new = try KeyFile.create(
                    at: path, isOfDevice: true, isFolderLocked: false, in: files, until: Deadline(after: .seconds(10)))
            {
                return try DeviceKey(new)
            }
            return try DeviceKey(KeyFile.read(path, secretFolders: [], isBelieved: true, in: files))
        } catch {
            // A full disk or a busy file does not mean that the key is unusable.
            guard !error.isPassing else { throw error }
            throw LogError(
                .deviceUnusable, VaultError(error, withKeyFile(deviceKey)).message, systemError: error.systemError)
        }
    }
}
