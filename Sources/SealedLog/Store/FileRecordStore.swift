private import Glibc
import LinuxSystem
import Sealing

final class FileRecordStore: RecordStore {
    /// The path, without symbolic links: a rename would replace them.
    let path: String
    let identity: RecordStoreIdentity
    let isTransactional = false
    /// The place into which the changes are to be merged, if this machine keeps them apart until then.
    let target: (any StoreLocation)?
    let needsLockToRead: Bool
    let fileSystem: any FileSystem
    let file: FileDescriptor
    let fileIdentity: FileStatus.Identity
    private let processID = getpid()
    /// Why the file is open for reading only.
    private let writeRefusal: SystemError?
    private let readsAroundFaults: Bool

    init(
        _ file: consuming FileDescriptor, at path: String, in fileSystem: any FileSystem,
        mergedInto target: (any StoreLocation)? = nil, writeRefusal: SystemError? = nil, readsAroundFaults: Bool = false
    ) throws(LogError) {
        let status = try translated(fileSystem.status(of: file), at: path)
        guard status.isRegularFile else { throw LogError(.notAFile, status.kind) }
        self.path = path
        fileIdentity = status.identity
        identity = RecordStoreIdentity(status.identity.bytes)
        needsLockToRead = fileSystem.volume(of: file).isRemote
        self.target = target
        self.fileSystem = fileSystem
        self.file = file
        self.writeRefusal = writeRefusal
        self.readsAroundFaults = readsAroundFaults
    }

    /// Opens the file, for reading only if it cannot be written. A damaged one is always opened so, and blocks of 4 KiB
    /// that the disk fails to read are read as zeros.
    static func open(
        _ path: String, isDamaged: Bool = false, mergedInto target: (any StoreLocation)? = nil,
        in fileSystem: any FileSystem
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
        return try FileRecordStore(
            believed(file, path, target, in: fileSystem), at: path, in: fileSystem, mergedInto: target,
            writeRefusal: refusal, readsAroundFaults: isDamaged)
    }

    /// Changes that are to be merged are believed to be this user's: nobody else's come into the vault by them.
    private static func believed(
        _ file: consuming FileDescriptor, _ path: String, _ target: (any StoreLocation)?,
        in fileSystem: any FileSystem
    ) throws(LogError) -> FileDescriptor {
        guard target != nil else { return file }
        do throws(Distrust) { return try TrustworthyFile(file, in: fileSystem).takeDescriptor() } catch {
            throw LogError(.untrustworthy, error.reason(of: path))
        }
    }

    func reopened() throws(LogError) -> any RecordStore {
        do throws(LogError) { return try FileRecordStore.open(path, mergedInto: target, in: fileSystem) } catch {
            // Another process has merged the changes, and removed the file.
            guard error.code == .missing, let target else { throw error }
            return try target.open(.fresh)
        }
    }

    var isProvisional: Bool { target != nil }
    // What waits for a database is a copy of its vault.
    var vaultName: [UInt8]? { target?.vaultName }

    func isCurrent() throws(LogError) -> Bool {
        try translated(WholeFile(path, in: fileSystem).status(withTimes: false), at: path)?.identity
            == fileIdentity
    }

    var isWritable: Bool { writeRefusal == nil }

    // A child process shares its parent's descriptor, and with it the lock: flock would admit both.
    var isInherited: Bool { processID != getpid() }

    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock {
        if kind == .exclusive, let writeRefusal { throw LogError(writeRefusal, path) }
        try translated(fileSystem.lock(file, kind, until: deadline), at: path)
        return StoreLock(store: self)
    }

    func unlock() { fileSystem.unlock(file) }

    // MARK: Bytes

    func size() throws(LogError) -> UInt64 { try translated(fileSystem.status(of: file).size, at: path) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int {
        guard offset < 1 << 62 else { return 0 }
        do { return try fileSystem.read(file, into: buffer, at: offset) } catch {
            guard readsAroundFaults, error.number == EIO else { throw LogError(error, path) }
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
                guard error.number == EIO else { throw LogError(error, path) }
                block.initializeMemory(as: UInt8.self, repeating: 0)
            }
            start = stop
        }
        return Int(end - offset)
    }

    func growth(after end: UInt64, _ head: LogPosition) throws(LogError) -> StoreGrowth {
        // Usually nothing was appended, which one read of a few bytes shows.
        try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { (buffer) throws(LogError) in
            guard try read(into: buffer, at: end) == buffer.count else { return .none }
            return buffer.load(as: UInt64.self) | buffer.load(fromByteOffset: 8, as: UInt64.self) == 0 ? .none : .some
        }
    }

    func nextData(from offset: UInt64) throws(LogError) -> UInt64? {
        try translated(fileSystem.nextData(file, from: offset), at: path)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError) {
        try translated(fileSystem.write(file, bytes, at: offset), at: path)
    }

    func synchronize() throws(LogError) { try translated(fileSystem.synchronizeData(file), at: path) }

    func synchronizeLocation() throws(LogError) {
        let folder = path.parentFolder
        do throws(SystemError) { try fileSystem.synchronizeFolder(folder) } catch {
            // A user of the vault need not be permitted to open its folder.
            guard error.isRefused else { throw LogError(error, folder) }
            try translated(fileSystem.synchronizeVolume(of: file), at: folder)
        }
    }

    /// The file, and its folder as it is now: a copy of the file has the same header, and even the same inode number if
    /// the first file was removed.
    func locationState() -> [UInt8]? {
        guard let folder = try? fileSystem.status(at: path.parentFolder, withTimes: true) else { return nil }
        var writer = ByteWriter(reserving: 40)
        writer.append(identity.bytes + folder.identity.bytes)
        writer.integer(UInt64(bitPattern: folder.contentsChanged))
        return writer.bytes
    }
}

extension FileStatus.Identity {
    fileprivate var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 16)
        writer.integer(device)
        writer.integer(inode)
        return writer.bytes
    }
}
