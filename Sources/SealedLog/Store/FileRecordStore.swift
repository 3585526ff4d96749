private import Glibc
import LinuxSystem
import Sealing

final class FileRecordStore: RecordStore {
    /// The path, without symbolic links: a rename would replace them.
    let location: String
    let identity: FileStatus.Identity
    let needsLockToRead: Bool
    private let fileSystem: any FileSystem
    private let file: FileDescriptor
    private let processID = getpid()
    /// Why the file is open for reading only.
    private let writeRefusal: SystemError?
    private let readsAroundFaults: Bool

    private init(
        _ file: consuming FileDescriptor, at path: String, in fileSystem: any FileSystem,
        writeRefusal: SystemError? = nil, readsAroundFaults: Bool = false
    ) throws(LogError) {
        let status = try translated(fileSystem.status(of: file), at: path)
        guard status.isRegularFile else { throw LogError(.notAFile, status.kind) }
        location = path
        identity = status.identity
        needsLockToRead = fileSystem.volume(of: file).isRemote
        self.fileSystem = fileSystem
        self.file = file
        self.writeRefusal = writeRefusal
        self.readsAroundFaults = readsAroundFaults
    }

    /// Opens the file, for reading only if it cannot be written. A damaged one is always opened so, and blocks of 4 KiB
    /// that the disk fails to read are read as zeros.
    static func open(
        _ path: String, isDamaged: Bool = false, in fileSystem: any FileSystem
    ) throws(LogError) -> FileRecordStore {
        let file: FileDescriptor
        var refusal = isDamaged ? SystemError(EROFS, "write") : nil
        do {
            file = try fileSystem.open(path, isDamaged ? .read : .readWrite, orElse: .read, refusal: &refusal)
        } catch {
            if error.isMissing { throw LogError(.missing, path) }
            // A folder cannot be opened for writing, and a socket not at all.
            if !isDamaged, let status = try? fileSystem.status(at: path), !status.isRegularFile {
                throw LogError(.notAFile, status.kind)
            }
            throw LogError(error, path)
        }
        return try FileRecordStore(file, at: path, in: fileSystem, writeRefusal: refusal, readsAroundFaults: isDamaged)
    }

    func reopened() throws(LogError) -> any RecordStore { try FileRecordStore.open(location, in: fileSystem) }

    func isCurrent() throws(LogError) -> Bool {
        try translated(WholeFile(location, in: fileSystem).status(withTimes: false), at: location)?.identity == identity
    }

    var isWritable: Bool { writeRefusal == nil }

    // A child process shares its parent's descriptor, and with it the lock: flock would admit both.
    var isInherited: Bool { processID != getpid() }

    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock {
        if kind == .exclusive, let writeRefusal { throw LogError(writeRefusal, location) }
        try translated(fileSystem.lock(file, kind, until: deadline), at: location)
        return StoreLock(store: self)
    }

    func unlock() { fileSystem.unlock(file) }

    // MARK: Bytes

    func size() throws(LogError) -> UInt64 { try translated(fileSystem.status(of: file).size, at: location) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int {
        guard offset < 1 << 62 else { return 0 }
        do { return try fileSystem.read(file, into: buffer, at: offset) } catch {
            guard readsAroundFaults, error.number == EIO else { throw LogError(error, location) }
            return try readAroundFaults(into: buffer, at: offset)
        }
    }

    private func readAroundFaults(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(LogError) -> Int {
        let blockSize: UInt64 = 4_096
        let end = min(offset + UInt64(buffer.count), max(offset, try size()))
        var start = offset
        while start < end {
            let stop = min(end, (start / blockSize + 1) * blockSize)
            let block = UnsafeMutableRawBufferPointer(rebasing: buffer[Int(start - offset)..<Int(stop - offset)])
            do { _ = try fileSystem.read(file, into: block, at: start) } catch {
                guard error.number == EIO else { throw LogError(error, location) }
                block.initializeMemory(as: UInt8.self, repeating: 0)
            }
            start = stop
        }
        return Int(end - offset)
    }

    func nextData(from offset: UInt64) throws(LogError) -> UInt64? {
        try translated(fileSystem.nextData(file, from: offset), at: location)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError) {
        try translated(fileSystem.write(file, bytes, at: offset), at: location)
    }

    func synchronize() throws(LogError) { try translated(fileSystem.synchronizeData(file), at: location) }

    func synchronizeLocation() throws(LogError) {
        try translated(fileSystem.synchronizeFolder(location.parentFolder), at: location)
    }
}

// MARK: - Replacement

// A compaction writes a new file beside the log and renames it into place; Format.md, "Writing".

extension FileRecordStore {
    static func createUnpublished(for path: String, in fileSystem: any FileSystem) throws(LogError) -> FileRecordStore {
        let file = try translated(fileSystem.createUnpublished(for: path), at: unpublishedPath(for: path))
        return try FileRecordStore(file, at: path, in: fileSystem)
    }

    /// Creates an empty store that gets its location once it is published, and takes its lock: nobody then takes it for
    /// one that a killed process has left. Throws `busy` while another one is being written for the location.
    ///
    /// - Parameter identity: of a file that a power loss may have left under the new one's name, too.
    static func createLocked(
        for path: String, besides identity: FileStatus.Identity? = nil, in fileSystem: any FileSystem
    ) throws(LogError) -> StoreLock {
        try removeLeftReplacement(of: path, besides: identity, in: fileSystem)
        let new = try createUnpublished(for: path, in: fileSystem)
        do throws(SystemError) { try fileSystem.lock(new.file, .exclusive, until: Deadline(after: .zero)) } catch {
            new.discard()
            throw LogError(error, path)
        }
        return StoreLock(store: new)
    }

    func makeReplacement() throws(LogError) -> StoreLock {
        let new = try FileRecordStore.createLocked(for: location, besides: identity, in: fileSystem)
        do throws(SystemError) {
            let status = try fileSystem.status(of: file)
            guard let created = new.store as? FileRecordStore else { return new }
            try fileSystem.setOwner(of: created.file, asOf: status)
            if try fileSystem.status(of: created.file).mode != status.mode {
                try fileSystem.setMode(created.file, status.mode)
            }
        } catch {
            new.store.discard()
            throw LogError(error, location)
        }
        return new
    }

    func publish(replacing: Bool) throws(LogError) {
        guard try isThereUnpublished() else { throw LogError(.busy, location) }
        do { try fileSystem.publish(file, at: location, replacing: replacing) } catch {
            throw error.isExisting ? LogError(.exists, location) : LogError(error, location)
        }
    }

    func discard() {
        if (try? isThereUnpublished()) != false { fileSystem.discardUnpublished(for: location) }
    }

    /// False if a process that began at the same moment has taken this file for a left one, and has another there.
    private func isThereUnpublished() throws(LogError) -> Bool {
        let path = unpublishedPath(for: location)
        return try translated(unlessMissing(fileSystem.status(at: path)), at: path)?.identity == identity
    }

    func removeLeftReplacement() throws(LogError) {
        try FileRecordStore.removeLeftReplacement(of: location, besides: identity, in: fileSystem)
    }

    private static func removeLeftReplacement(
        of location: String, besides identity: FileStatus.Identity?, in fileSystem: any FileSystem
    ) throws(LogError) {
        let path = unpublishedPath(for: location)
        // Not being able to look is no proof that nobody writes it.
        guard let left = try translated(unlessMissing(fileSystem.open(path, .readNoFollow)), at: path) else { return }
        // A power loss may have left a renamed file under both names. Who writes another holds its lock.
        let isThis = (try? fileSystem.status(of: left))?.identity == identity
        if !isThis, try !translated(fileSystem.tryLock(left, .exclusive), at: path) {
            throw LogError(SystemError(EWOULDBLOCK, "lock"), path)
        }
        try? fileSystem.remove(path)
    }
}
