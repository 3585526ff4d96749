private import Glibc
import LinuxSystem
import Sealing

final class FileRecordStore: NewStore {
    /// The path without symbolic links, which a rename would replace.
    let path: String
    let identity: RecordStoreIdentity
    let target: (any StoreLocation)?
    /// Whether the file system shows other machines' writes only to processes that take a lock, as NFS does.
    private let isRemote: Bool
    let fileSystem: any FileSystem
    let file: FileDescriptor
    let fileIdentity: FileStatus.Identity
    /// The process that has opened the file. A child shares the descriptor, and with it the lock: flock would admit
    /// both.
    private let processID = getpid()
    /// The reason why the file is open for reading only.
    private let writeRefusal: SystemError?
    private let readsAroundFaults: Bool
    /// Whether the outcome of a write is unknown. Then nothing more is written, in replacements of the file either.
    let isPoisoned: Poison
    /// Whether this store has searched for remains of a killed compaction.
    let hasTidied = Atomic(false)
    private let isLocked = Atomic(false)
    /// The time for which a reader on a remote file system waits for the lock.
    private let lockTimeout: Duration

    init(
        _ file: consuming FileDescriptor, at path: String, in fileSystem: any FileSystem,
        mergedInto target: (any StoreLocation)? = nil, writeRefusal: SystemError? = nil,
        readsAroundFaults: Bool = false, poison: Poison = Poison(), lockTimeout: Duration = .seconds(10)
    ) throws(LogError) {
        let status = try translated(fileSystem.status(of: file), at: path)
        guard status.isRegularFile else { throw LogError(.notAFile, status.kind) }
        self.path = path
        fileIdentity = status.identity
        identity = RecordStoreIdentity(status.identity.bytes)
        isRemote = fileSystem.volume(of: file).isRemote
        self.target = target
        self.fileSystem = fileSystem
        self.file = file
        self.writeRefusal = writeRefusal
        self.readsAroundFaults = readsAroundFaults
        isPoisoned = poison
        self.lockTimeout = lockTimeout
    }

    /// Opens the file, for reading only if it cannot be written. A damaged file is always opened for reading only, and
    /// blocks of 4 KiB that the disk fails to read are read as zeros.
    static func open(
        _ path: String, isDamaged: Bool = false, mergedInto target: (any StoreLocation)? = nil,
        poison: Poison = Poison(), lockTimeout: Duration = .seconds(10), in fileSystem: any FileSystem
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
            writeRefusal: refusal, readsAroundFaults: isDamaged, poison: poison, lockTimeout: lockTimeout)
    }

    /// Checks that changes which are to be merged are this user's: another user's must not get into the vault.
    private static func believed(
        _ file: consuming FileDescriptor, _ path: String, _ target: (any StoreLocation)?, in fileSystem: any FileSystem
    ) throws(LogError) -> FileDescriptor {
        guard target != nil else { return file }
        do throws(Distrust) { return try TrustworthyFile(file, in: fileSystem).takeDescriptor() } catch {
            throw LogError(.untrustworthy, error.reason(of: path))
        }
    }

    func reopened() throws(LogError) -> any RecordStore {
        do throws(LogError) {
            return try FileRecordStore.open(
                path, mergedInto: target, poison: isPoisoned, lockTimeout: lockTimeout, in: fileSystem)
        } catch {
            // Another process has merged the changes and removed the file.
            guard error.code == .missing, let target else { throw error }
            return try target.open(.fresh)
        }
    }

    // A file of changes that wait for a database is a copy of that database's vault.
    var vaultName: [UInt8]? { target?.vaultName }

    func forReader() throws(LogError) -> (any RecordStore)? {
        // Linux reports a failed flush to each descriptor once. If a reader flushed by the writer's descriptor, the
        // writer would not get the error.
        let store = try reopened()
        return store.identity == identity ? store : nil
    }

    func isCurrent() throws(LogError) -> Bool {
        try translated(WholeFile(path, in: fileSystem).status(withTimes: false), at: path)?.identity
            == fileIdentity
    }

    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock? {
        guard processID == getpid() else { return nil }
        if kind == .exclusive {
            guard !isPoisoned.isSet else { throw LogError(.outcomeUnknown) }
            if let writeRefusal {
                // The mode of the file may have been changed since.
                guard let now = try? fileSystem.open(path, .readWrite) else { throw LogError(writeRefusal, path) }
                _ = consume now
                return nil
            }
        }
        try translated(fileSystem.lock(file, kind, until: deadline), at: path)
        isLocked.store(true, ordering: .relaxed)
        let lock = StoreLock(store: self)
        guard try isCurrent() else { return nil }
        return lock
    }

    func unlock() {
        isLocked.store(false, ordering: .relaxed)
        fileSystem.unlock(file)
    }

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
        if isRemote, try !isReadAnew() { return .doubtful }
        // Usually nothing was appended, which one read of a few bytes shows.
        return try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { (buffer) throws(LogError) in
            guard try read(into: buffer, at: end) == buffer.count else { return .none }
            let isZero = buffer.load(as: UInt64.self) | buffer.load(fromByteOffset: 8, as: UInt64.self) == 0
            return isZero ? .none : .some(upTo: nil, areDurable: false)
        }
    }

    /// Makes later reads fetch the bytes from a remote server: NFS does that for a process that takes a lock. The lock
    /// is taken on a separate descriptor, since the store's own belongs to the writer. Returns false if the path leads
    /// to another file.
    private func isReadAnew() throws(LogError) -> Bool {
        if isLocked.load(ordering: .relaxed) { return true }
        let own = try translated(fileSystem.open(path, .read), at: path)
        guard try translated(fileSystem.status(of: own), at: path).identity == fileIdentity else { return false }
        try translated(fileSystem.lock(own, .shared, until: Deadline(after: lockTimeout)), at: path)
        return true
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
            // A user of the vault may not be permitted to open its folder.
            guard error.isRefused else { throw LogError(error, folder) }
            try translated(fileSystem.synchronizeVolume(of: file), at: folder)
        }
    }

    /// Returns the identity of the file and the present state of its folder. A copy of the file has the same header,
    /// and even the same inode number if the first file was removed.
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

/// Records an unknown outcome of a write, for all stores that one process opens of a vault one after the other.
final class Poison: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}
