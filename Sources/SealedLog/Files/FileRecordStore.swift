private import Glibc

/// A sealed log in one file.
package final class FileRecordStore: RecordStore {
    package let location: String
    let fileSystem: any FileSystem
    let file: FileDescriptor
    package let identity: FileStatus.Identity?
    package let needsLockToRead: Bool
    private let processID = getpid()

    /// Why the file is open for reading only, if it is.
    private let writeRefusal: SystemError?
    /// Where the file lies until it is published.
    let temporaryPath: String?
    private let readsAroundFaults: Bool

    init(
        _ file: consuming FileDescriptor, at path: String, in fileSystem: any FileSystem,
        writeRefusal: SystemError? = nil, temporaryPath: String? = nil, readsAroundFaults: Bool = false
    ) throws(LogError) {
        let status: FileStatus
        do { status = try fileSystem.status(of: file) } catch { throw LogError(error, path) }
        guard status.isRegularFile else { throw LogError(.notAFile, status.kind) }
        location = path
        needsLockToRead = fileSystem.volume(of: file).isRemote
        self.fileSystem = fileSystem
        self.file = file
        self.writeRefusal = writeRefusal
        self.temporaryPath = temporaryPath
        self.readsAroundFaults = readsAroundFaults
        identity = status.identity
    }

    /// Opens the file; only for reading where it cannot be written.
    ///
    /// - Parameter path: without symbolic links: a rename would replace them.
    package static func open(_ path: String, in fileSystem: any FileSystem) throws(LogError) -> FileRecordStore {
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

    /// Opens a damaged file only for reading. Where the disk does not give a block of 4 KiB, zeros are read.
    package static func openForSalvage(_ path: String, in fileSystem: any FileSystem) throws(LogError)
        -> FileRecordStore
    {
        let file: FileDescriptor
        do throws(SystemError) { file = try fileSystem.open(path, .read) } catch {
            if error.isMissing { throw LogError(.missing, path) }
            throw LogError(error, path)
        }
        return try FileRecordStore(
            file, at: path, in: fileSystem, writeRefusal: SystemError(EROFS, "write"), readsAroundFaults: true)
    }

    package var isWritable: Bool { writeRefusal == nil }

    package func status() throws(LogError) -> FileStatus {
        do { return try fileSystem.status(of: file) } catch { throw LogError(error, location) }
    }

    package func size() throws(LogError) -> UInt64 {
        try status().size
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at place: UInt64) throws(LogError) -> Int {
        guard place < 1 << 62 else { return 0 }
        do throws(SystemError) { return try fileSystem.read(file, into: buffer, at: place) } catch {
            guard readsAroundFaults, error.number == EIO else { throw LogError(error, location) }
            return try readAroundFaults(into: buffer, at: place)
        }
    }

    private func readAroundFaults(
        into buffer: UnsafeMutableRawBufferPointer, at place: UInt64
    ) throws(LogError) -> Int {
        let blockSize: UInt64 = 4_096
        let end = min(place + UInt64(buffer.count), max(place, try size()))
        var start = place
        while start < end {
            let stop = min(end, (start / blockSize + 1) * blockSize)
            let block = UnsafeMutableRawBufferPointer(rebasing: buffer[Int(start - place)..<Int(stop - place)])
            do throws(SystemError) { _ = try fileSystem.read(file, into: block, at: start) } catch {
                guard error.number == EIO else { throw LogError(error, location) }
                block.initializeMemory(as: UInt8.self, repeating: 0)
            }
            start = stop
        }
        return Int(end - place)
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at place: UInt64) throws(LogError) {
        do { try fileSystem.write(file, bytes, at: place) } catch { throw LogError(error, location) }
    }

    package func nextData(from place: UInt64) throws(LogError) -> UInt64? {
        do { return try fileSystem.nextData(file, from: place) } catch { throw LogError(error, location) }
    }

    package func synchronize() throws(LogError) {
        do { try fileSystem.synchronizeData(file) } catch { throw LogError(error, location) }
    }

    package func synchronizeLocation() throws(LogError) {
        do { try fileSystem.synchronizeFolder(location.parentFolder) } catch { throw LogError(error, location) }
    }

    /// A child shares its parent's descriptor, and with it the lock: flock would let both in.
    package var isInherited: Bool { processID != getpid() }

    package func isCurrent() throws(LogError) -> Bool {
        do { return try fileSystem.status(at: location).identity == identity } catch {
            guard error.isMissing else { throw LogError(error, location) }
            return false
        }
    }

    package func reopened() throws(LogError) -> any RecordStore {
        try FileRecordStore.open(location, in: fileSystem)
    }

    package func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock {
        if kind == .exclusive, let writeRefusal { throw LogError(writeRefusal, location) }
        let isLocked: Bool
        do throws(SystemError) {
            isLocked = try deadline.poll { () throws(SystemError) in try fileSystem.tryLock(file, kind) }
        } catch { throw LogError(error, location) }
        guard isLocked else { throw LogError(.busy, location) }
        return StoreLock(heldBy: self)
    }

    package func unlock() {
        fileSystem.unlock(file)
    }
}
