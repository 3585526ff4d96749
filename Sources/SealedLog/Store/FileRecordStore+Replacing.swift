private import Glibc
import LinuxSystem
import Sealing

// A compaction writes a new file beside the log and renames it into place; Format.md, "Writing".

extension FileRecordStore {
    static func createUnpublished(
        for path: String, mergedInto target: (any StoreLocation)? = nil, in fileSystem: any FileSystem
    ) throws(LogError) -> FileRecordStore {
        let file = try translated(fileSystem.createUnpublished(for: path), at: unpublishedPath(for: path))
        return try FileRecordStore(file, at: path, in: fileSystem, mergedInto: target)
    }

    /// Creates an empty store that gets its location once it is published, and takes its lock. The lock shows that no
    /// killed process has left the file. Throws `busy` while another store is being written for the location.
    ///
    /// - Parameter identity: the identity of a file that a power loss may also have left under the new file's name.
    static func createLocked(
        for path: String, besides identity: FileStatus.Identity? = nil, mergedInto target: (any StoreLocation)? = nil,
        in fileSystem: any FileSystem
    ) throws(LogError) -> FileRecordStore {
        try removeLeftReplacement(of: path, besides: identity, in: fileSystem)
        let new = try createUnpublished(for: path, mergedInto: target, in: fileSystem)
        do throws(SystemError) { try fileSystem.lock(new.file, .exclusive, until: Deadline(after: .zero)) } catch {
            new.discard()
            throw LogError(error, path)
        }
        return new
    }

    func makeReplacement(isImpatient: Bool) throws(LogError) -> any NewStore {
        let new = try FileRecordStore.createLocked(for: path, besides: fileIdentity, mergedInto: target, in: fileSystem)
        do throws(SystemError) {
            let status = try fileSystem.status(of: file)
            try fileSystem.setOwner(of: new.file, asOf: status)
            if try fileSystem.status(of: new.file).mode != status.mode { try fileSystem.setMode(new.file, status.mode) }
        } catch {
            new.discard()
            throw LogError(error, path)
        }
        return new
    }

    func finish(at end: UInt64, _ hint: Hint?) throws(LogError) {
        try writeZerosAhead(from: end, size: end)
        if let hint { try write(hint) }
    }

    func publish(over old: Replaceable?, _ head: LogPosition) throws(LogError) {
        guard try isThereUnpublished() else { throw LogError(.busy, path) }
        do { try fileSystem.publish(file, at: path, replacing: old != nil) } catch {
            throw error.isExisting ? LogError(.exists, path) : LogError(error, path)
        }
    }

    func discard() { if (try? isThereUnpublished()) != false { fileSystem.discardUnpublished(for: path) } }

    /// Returns false if a process that began at the same moment took this file for an abandoned one and created
    /// another.
    private func isThereUnpublished() throws(LogError) -> Bool {
        let path = unpublishedPath(for: self.path)
        return try translated(unlessMissing(fileSystem.status(at: path)), at: path)?.identity == fileIdentity
    }

    /// Removes a replacement that a killed process has left. The caller holds the lock. Throws `busy` for a replacement
    /// that is being written.
    func removeLeftReplacement() throws(LogError) {
        try FileRecordStore.removeLeftReplacement(of: path, besides: fileIdentity, in: fileSystem)
    }

    private static func removeLeftReplacement(
        of replaced: String, besides identity: FileStatus.Identity?, in fileSystem: any FileSystem
    ) throws(LogError) {
        let path = unpublishedPath(for: replaced)
        // A file that cannot be checked may be one that is being written.
        guard let left = try translated(unlessMissing(fileSystem.open(path, .readNoFollow)), at: path) else { return }
        // A power loss may have left a renamed file under both names. The writer of any other file holds its lock.
        let isThis = (try? fileSystem.status(of: left))?.identity == identity
        if !isThis, try !translated(fileSystem.tryLock(left, .exclusive), at: path) {
            throw LogError(SystemError(EWOULDBLOCK, "lock"), path)
        }
        try? fileSystem.remove(path)
    }
}
