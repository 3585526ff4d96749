private import Glibc
import LinuxSystem

/// A sealed log in one file.
final class FileRecordStore: RecordStore {
    let location: String
    let fileSystem: any FileSystem
    let file: FileDescriptor
    let identity: FileStatus.Identity?
    let needsLockToRead: Bool
    private let processID = getpid()

    /// The reason why the file is open for reading only; nil if it can be written.
    private let writeRefusal: SystemError?
    private let readsAroundFaults: Bool

    init(
        _ file: consuming FileDescriptor, at path: String, in fileSystem: any FileSystem,
        writeRefusal: SystemError? = nil, readsAroundFaults: Bool = false
    ) throws(LogError) {
        let status: FileStatus
        do { status = try fileSystem.status(of: file) } catch { throw LogError(error, path) }
        guard status.isRegularFile else { throw LogError(.notAFile, status.kind) }
        location = path
        needsLockToRead = fileSystem.volume(of: file).isRemote
        self.fileSystem = fileSystem
        self.file = file
        self.writeRefusal = writeRefusal
        self.readsAroundFaults = readsAroundFaults
        identity = status.identity
    }

    /// Opens the file, for reading only if it cannot be written.
    ///
    /// - Parameter path: without symbolic links: a rename would replace them.
    static func open(_ path: String, in fileSystem: any FileSystem) throws(LogError) -> FileRecordStore {
        let file: FileDescriptor
        var refusal: SystemError?
        do throws(SystemError) {
            file = try fileSystem.open(path, .readWrite, orElse: .read, refusal: &refusal)
        } catch {
            if error.isMissing { throw LogError(.missing, path) }
            // A folder cannot be opened for writing, and a socket not at all.
            if let status = try? fileSystem.status(at: path), !status.isRegularFile {
                throw LogError(.notAFile, status.kind)
            }
            throw LogError(error, path)
        }
        return try FileRecordStore(file, at: path, in: fileSystem, writeRefusal: refusal)
    }

    /// Opens a damaged file, for reading only. Blocks of 4 KiB that the disk fails to read are read as zeros.
    static func openForSalvage(
        _ path: String, in fileSystem: any FileSystem
    ) throws(LogError) -> FileRecordStore {
        let file: FileDescriptor
        do throws(SystemError) { file = try fileSystem.open(path, .read) } catch {
            if error.isMissing { throw LogError(.missing, path) }
            throw LogError(error, path)
        }
        return try FileRecordStore(
            file, at: path, in: fileSystem, writeRefusal: SystemError(EROFS, "write"), readsAroundFaults: true)
    }

    var isWritable: Bool { writeRefusal == nil }

    func size() throws(LogError) -> UInt64 {
        do { return try fileSystem.status(of: file).size } catch { throw LogError(error, location) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int {
        guard offset < 1 << 62 else { return 0 }
        do throws(SystemError) { return try fileSystem.read(file, into: buffer, at: offset) } catch {
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
            do throws(SystemError) { _ = try fileSystem.read(file, into: block, at: start) } catch {
                guard error.number == EIO else { throw LogError(error, location) }
                block.initializeMemory(as: UInt8.self, repeating: 0)
            }
            start = stop
        }
        return Int(end - offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError) {
        do { try fileSystem.write(file, bytes, at: offset) } catch { throw LogError(error, location) }
    }

    func nextData(from offset: UInt64) throws(LogError) -> UInt64? {
        do { return try fileSystem.nextData(file, from: offset) } catch { throw LogError(error, location) }
    }

    func synchronize() throws(LogError) {
        do { try fileSystem.synchronizeData(file) } catch { throw LogError(error, location) }
    }

    func synchronizeLocation() throws(LogError) {
        do { try fileSystem.synchronizeFolder(location.parentFolder) } catch { throw LogError(error, location) }
    }

    /// A child shares its parent's descriptor, and with it the lock: flock would admit both.
    var isInherited: Bool { processID != getpid() }

    func isCurrent() throws(LogError) -> Bool {
        do { return try fileSystem.status(at: location).identity == identity } catch {
            guard error.isMissing else { throw LogError(error, location) }
            return false
        }
    }

    func reopened() throws(LogError) -> any RecordStore {
        try FileRecordStore.open(location, in: fileSystem)
    }

    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock {
        if kind == .exclusive, let writeRefusal { throw LogError(writeRefusal, location) }
        do { try fileSystem.lock(file, kind, until: deadline) } catch { throw LogError(error, location) }
        return StoreLock(heldBy: self)
    }

    func unlock() {
        fileSystem.unlock(file)
    }
}

// MARK: - Replacement

// A compaction writes a new file beside the log and renames it into place; Format.md, "Writing".

extension FileRecordStore {
    /// Creates an empty file that will be renamed to `path`.
    static func createUnpublished(
        for path: String, in fileSystem: any FileSystem
    ) throws(LogError) -> FileRecordStore {
        let file: FileDescriptor
        do { file = try fileSystem.createUnpublished(for: path) } catch {
            throw LogError(error, unpublishedPath(for: path))
        }
        return try FileRecordStore(file, at: path, in: fileSystem)
    }

    func makeReplacement() throws(LogError) -> any RecordStore {
        let new = try FileRecordStore.createUnpublished(for: location, in: fileSystem)
        do throws(SystemError) {
            let status = try fileSystem.status(of: file)
            try fileSystem.setOwner(of: new.file, asOf: status)
            if try fileSystem.status(of: new.file).mode != status.mode {
                try fileSystem.setMode(new.file, status.mode)
            }
        } catch {
            new.discard()
            throw LogError(error, location)
        }
        return new
    }

    func publish(replacing: Bool) throws(LogError) {
        do { try fileSystem.publish(file, at: location, replacing: replacing) } catch {
            if error.isExisting { throw LogError(.exists, location) }
            throw LogError(error, location)
        }
    }

    func discard() {
        fileSystem.discardUnpublished(for: location)
    }

    func removeLeftReplacement() {
        try? fileSystem.remove(unpublishedPath(for: location))
    }
}
