private import Glibc
package import LinuxSystem
import Sealing

extension KeyFile {
    /// Makes a generated key file, 0600 from its first byte, on the disk when this returns.
    ///
    /// - Parameter isFolderLocked: whether the caller holds the lock of the folder; asking for it twice would wait for ever.
    /// - Returns: nil if there is a file at the path; whoever comes second uses the first one's.
    /// - Throws: `unavailable`, `busy`, `outOfMemory`.
    package static func create(
        at path: String, isFolderLocked: Bool, in fileSystem: any FileSystem, until deadline: Deadline
    ) throws(LogError) -> KeyFile? {
        guard !isFolderLocked else { return try create(at: path, in: fileSystem) }
        let lock = try FolderLock.acquire(forFile: path, in: fileSystem, until: deadline)
        let key = try create(at: path, in: fileSystem)
        lock.release()
        return key
    }

    /// Makes a key file last that is there already: one that made it and was killed before its flush leaves a file that power loss takes
    /// back, and with it all that was sealed under its key.
    ///
    /// - Throws: `unavailable`; not for a file that others look after: its folder is not ours to open, or cannot be flushed.
    package static func makeDurable(at path: String, in fileSystem: any FileSystem) throws(LogError) {
        let path = resolvedPath(path)
        do throws(SystemError) {
            try fileSystem.synchronize(fileSystem.open(path, .read))
            try fileSystem.synchronizeFolder(path.parentFolder)
        } catch {
            guard error.isRefused || error.isReadOnly || error.number == EINVAL else { throw LogError(error, path) }
        }
    }

    private static func create(at path: String, in fileSystem: any FileSystem) throws(LogError) -> KeyFile? {
        let key = try generate()
        let text = try key.text()
        do throws(SystemError) {
            try text.withUnsafeBytes { (text) throws(SystemError) in
                _ = try WholeFile(path, in: fileSystem).replace(with: text, replacing: false)
            }
            try fileSystem.synchronizeFolder(path.parentFolder)
        } catch {
            guard error.isExisting else { throw LogError(error, path) }
            return nil
        }
        return key
    }
}
