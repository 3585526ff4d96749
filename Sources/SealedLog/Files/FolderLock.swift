/// The lock on a folder in which something is made for the first time. Held until the value goes.
package struct FolderLock: ~Copyable, Sendable {
    private let folder: FileDescriptor

    /// Makes the folder if it is missing, and waits for its lock.
    ///
    /// - Throws: `busy`, `unavailable`.
    package static func acquire(
        _ path: String, in fileSystem: any FileSystem, until deadline: Deadline
    ) throws(LogError) -> FolderLock {
        let folder = try open(path, in: fileSystem)
        let isLocked: Bool
        do throws(SystemError) {
            isLocked = try lock(folder, in: fileSystem, until: deadline)
        } catch { throw LogError(error, path) }
        guard isLocked else { throw LogError(.busy, path) }
        return FolderLock(folder: folder)
    }

    private static func open(_ path: String, in fileSystem: any FileSystem) throws(LogError) -> FileDescriptor {
        do throws(SystemError) {
            try fileSystem.makeFolders(path)
            return try fileSystem.open(path, .folder)
        } catch { throw LogError(error, path) }
    }

    private static func lock(
        _ folder: borrowing FileDescriptor, in fileSystem: any FileSystem, until deadline: Deadline
    ) throws(SystemError) -> Bool {
        try deadline.poll { () throws(SystemError) in try fileSystem.tryLock(folder, .exclusive) }
    }

    /// Flushes the folder's list of names.
    package borrowing func synchronizeFolder(in fileSystem: any FileSystem) throws(SystemError) {
        try fileSystem.synchronize(folder)
    }

    /// Gives the lock back; closing the folder is what does it.
    package consuming func release() {}
}
