private import Glibc
import LinuxSystem
import Sealing

// A compaction writes a new file next to the log and then renames it to the log's path. See Format.md, "Writing".

extension FileRecordStore {
    static func createUnpublished(
        for path: String, mergedInto target: (any StoreLocation)? = nil, in fileSystem: any FileSystem
    ) throws(LogError) -> FileRecordStore {
        let file = try translated(fileSystem.createUnpublished(for: path), at: unpublishedPath(for: path))
        let new = try FileRecordStore(file, at: path, in: fileSystem, mergedInto: target)
        // Prevents the first append from removing the store's own unpublished file as one left by a killed process.
        new.hasTidied.store(true, ordering: .relaxed)
        return new
    }

    /// Creates and locks an empty store, which appears at its location when it is published. The lock shows that the
    /// file was not left by a killed process. Throws `busy` while another process writes a store for the location.
    ///
    /// - Parameter identity: identifies the old file. If a power loss left it at the new path too, it is removed there.
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

    /// Returns whether this unpublished file still exists. Another process may have removed it as abandoned.
    private func isThereUnpublished() throws(LogError) -> Bool {
        let path = unpublishedPath(for: self.path)
        return try translated(unlessMissing(fileSystem.status(at: path)), at: path)?.identity == fileIdentity
    }

    /// Removes a replacement left behind by a killed process. The caller holds the store's lock. Throws `busy` if
    /// another process is still writing the replacement.
    func removeLeftReplacement() throws(LogError) {
        try FileRecordStore.removeLeftReplacement(of: path, besides: fileIdentity, in: fileSystem)
    }

    private static func removeLeftReplacement(
        of replaced: String, besides identity: FileStatus.Identity?, in fileSystem: any FileSystem
    ) throws(LogError) {
        let path = unpublishedPath(for: replaced)
        // If the file exists but cannot be opened, this throws, because a writer may still be using the file.
        guard let left = try translated(unlessMissing(fileSystem.open(path, .readNoFollow)), at: path) else { return }
        // After a power loss, this may be the store's own, locked file. Another file may still be locked by its writer.
        let isThis = (try? fileSystem.status(of: left))?.identity == identity
        if !isThis, try !translated(fileSystem.tryLock(left, .exclusive), at: path) {
            throw LogError(SystemError(EWOULDBLOCK, "lock"), path)
        }
        try? fileSystem.remove(path)
    }
}
