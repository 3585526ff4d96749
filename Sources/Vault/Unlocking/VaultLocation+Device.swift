import LinuxSystem
import SealedLog

extension VaultLocation {
    /// Returns the text of this machine's device, whose key is made if there is none. Throws ``VaultError/Code/locked``
    /// for a key that cannot be used; ``VaultError/Code/unavailable`` if it cannot be made.
    package func device() throws(VaultError) -> String { try translated(readDeviceKey()).device.text }

    /// Reads the key by which this machine signs, or makes it. Throws `deviceUnusable`; `busy`, `unavailable`.
    func readDeviceKey(in files: any FileSystem = PosixFileSystem()) throws(LogError) -> DeviceKey {
        guard let deviceKey else {
            throw LogError(.deviceUnusable, "No place for this machine's device key is known. Set HOME.")
        }
        let path = resolvedPath(deviceKey)
        do throws(LogError) {
            let isThere: Bool
            do throws(SystemError) { isThere = try unlessMissing(files.status(at: path)) != nil } catch {
                throw LogError(error, path)
            }
            // The key itself may be a link, and what the path leads through shows in the unresolved one alone.
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
            // A full disk, or another process, says nothing against the key.
            guard !error.isPassing else { throw error }
            throw LogError(
                .deviceUnusable, VaultError(error, withKeyFile(deviceKey)).message, systemError: error.systemError)
        }
    }
}
