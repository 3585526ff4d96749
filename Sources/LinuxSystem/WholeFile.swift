private import CLinux
private import Glibc

/// A small file that is read and replaced as a whole, such as a property list, a key file or an import.
package struct WholeFile: Sendable {
    package let path: String
    package let fileSystem: any FileSystem

    /// - Parameter path: a path without symbolic links, because a rename would replace a link.
    package init(_ path: String, in fileSystem: any FileSystem) {
        self.path = path
        self.fileSystem = fileSystem
    }

    package func status(withTimes: Bool) throws(SystemError) -> FileStatus? {
        try unlessMissing(fileSystem.status(at: path, withTimes: withTimes))
    }

    package struct Contents: ~Copyable {
        package let bytes: [UInt8]
        /// The status and times before the read. If the size differs from `bytes.count`, another process was writing.
        package let status: FileStatus
        fileprivate let file: FileDescriptor

        package consuming func takeFile() -> FileDescriptor { file }
    }

    /// Reads the file; returns nil if it does not exist. Also throws the errors of ``FileStatus/checkRegular(upTo:)``.
    package func read(upTo limit: UInt64) throws(SystemError) -> Contents? {
        guard let file = try open() else { return nil }
        let status = try fileSystem.status(of: file, withTimes: true)
        return try contents(of: file, status, upTo: limit)
    }

    /// Reads the file as ``read(upTo:)`` does, and throws if it is not trustworthy.
    package func readTrustworthy(upTo limit: UInt64) throws(Distrust) -> Contents? {
        let found: FileDescriptor?
        do throws(SystemError) { found = try open() } catch { throw .system(error) }
        guard let found else { return nil }
        let file = try TrustworthyFile(found, in: fileSystem, withTimes: true)
        let status = file.status
        do throws(SystemError) { return try contents(of: file.takeDescriptor(), status, upTo: limit) } catch {
            throw .system(error)
        }
    }

    private func contents(
        of file: consuming FileDescriptor, _ status: FileStatus, upTo limit: UInt64
    ) throws(SystemError) -> Contents {
        try status.checkRegular(upTo: limit)
        let bytes = try fileSystem.read(file, upTo: Int(status.size))
        return Contents(bytes: bytes, status: status, file: file)
    }

    private func open() throws(SystemError) -> FileDescriptor? {
        do { return try fileSystem.open(path, .read) } catch {
            guard !error.isMissing else { return nil }
            // The error of open(2) does not show whether the path is a socket, so the file's status is checked.
            if let status = try? fileSystem.status(at: path) { try status.checkRegular() }
            throw error
        }
    }

    /// Writes a new file in the same folder, flushes it, and renames it into place. Returns the open file. The caller
    /// must hold the folder's lock, and make the rename durable. The new file keeps the old file's owner if this user
    /// is allowed to change it. Throws a ``SystemError/isExisting`` error if the file exists and `replacing` is false.
    @discardableResult
    package func replace(
        with bytes: UnsafeRawBufferPointer, replacing: Bool = true
    ) throws(SystemError) -> FileDescriptor {
        let file = try fileSystem.createUnpublished(for: path)
        do throws(SystemError) {
            if replacing, let former = try? fileSystem.status(at: path) {
                try? fileSystem.setOwner(of: file, asOf: former)
            }
            try fileSystem.write(file, bytes, at: 0)
            try fileSystem.publish(file, at: path, replacing: replacing)
        } catch {
            fileSystem.discardUnpublished(for: path)
            throw error
        }
        return file
    }

    /// Removes the file if it exists, and flushes its folder, so that the removal is durable.
    package func remove() throws(SystemError) {
        _ = try unlessMissing(fileSystem.remove(path))
        try fileSystem.synchronizeFolder(path.parentFolder)
    }

    /// Flushes the file and its directory entry. If the file does not exist, flushes its removal.
    package func synchronize() throws(SystemError) {
        _ = try unlessMissing(fileSystem.synchronize(fileSystem.open(path, .read)))
        _ = try unlessMissing(fileSystem.synchronizeFolder(path.parentFolder))
    }
}

// A file is written under a temporary name in the same folder and then renamed, so that no process sees it
// half-written. The temporary name is fixed, and a user's own file is unlikely to have it. Only the holder of a lock on
// the folder, or on the file to be replaced, creates such a file, so an existing one was left behind by a crash.

extension FileSystem {
    package func createUnpublished(for path: String) throws(SystemError) -> FileDescriptor {
        let temporaryPath = unpublishedPath(for: path)
        vault_guard_temporary(temporaryPath)
        _ = try unlessMissing(remove(temporaryPath))
        return try open(temporaryPath, .create)
    }

    /// Gives a file the owner of the file that it replaces, so that users still own the files that root has rewritten.
    package func setOwner(of file: borrowing FileDescriptor, asOf other: FileStatus) throws(SystemError) {
        let own = try status(of: file)
        guard own.owner != other.owner || own.group != other.group else { return }
        try setOwner(file, owner: other.owner, group: other.group)
    }

    package func publish(_ file: borrowing FileDescriptor, at path: String, replacing: Bool) throws(SystemError) {
        try synchronize(file)
        try rename(unpublishedPath(for: path), to: path, replacing: replacing)
        vault_guard_temporary(nil)
    }

    package func discardUnpublished(for path: String) {
        try? remove(unpublishedPath(for: path))
        vault_guard_temporary(nil)
    }
}

package func unpublishedPath(for path: String) -> String {
    let folder = path.parentFolder
    return "\(folder == "/" ? "" : folder)/.\(path.lastPathComponent).vault-new"
}
