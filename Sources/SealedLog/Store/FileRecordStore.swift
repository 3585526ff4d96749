private import Glibc
import LinuxSystem
import Sealing

final class FileRecordStore: NewStore {
    /// The path with symbolic links resolved. Otherwise, a rename would replace a link rather than the file.
    let path: String
    let identity: RecordStoreIdentity
    let target: (any StoreLocation)?
    /// Whether a process sees other machines' writes only after it acquires a lock, as on NFS.
    private let isRemote: Bool
    let fileSystem: any FileSystem
    let file: FileDescriptor
    let fileIdentity: FileStatus.Identity
    /// The process that opened the file. A forked child shares the file's lock, so it must open the file again.
    private let processID = getpid()
    /// The reason why the file is open for reading only; nil if it is writable.
    private let writeRefusal: SystemError?
    private let readsAroundFaults: Bool
    /// The flag that is set once a write's outcome is unknown. It stops all writes to the file and its replacements.
    let isPoisoned: Poison
    /// Whether this store has searched for files left behind by a killed compaction.
    let hasTidied = Atomic(false)
    private let isLocked = Atomic(false)

    init(
        _ file: consuming FileDescriptor, at path: String, in fileSystem: any FileSystem,
        mergedInto target: (any StoreLocation)? = nil, writeRefusal: SystemError? = nil,
        readsAroundFaults: Bool = false, poison: Poison = Poison()
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
    }

    /// Opens the file, read-only if it cannot be written. If `isDamaged` is true, always opens it read-only, and
    /// replaces unreadable 4 KiB blocks with zeros.
    static func open(
        _ path: String, isDamaged: Bool = false, mergedInto target: (any StoreLocation)? = nil,
        poison: Poison = Poison(), in fileSystem: any FileSystem
    ) throws(LogError) -> FileRecordStore {
        let file: FileDescriptor
        var refusal = isDamaged ? SystemError(EROFS, "write") : nil
        do {
            file = try fileSystem.open(path, isDamaged ? .read : .readWrite, orElse: .read, refusal: &refusal)
        } catch {
            if error.isMissing { throw LogError(.missing, path) }
            // The error from opening a folder or socket does not say what is at the path, so that is determined here.
            if !isDamaged, let status = try? fileSystem.status(at: path), !status.isRegularFile {
                throw LogError(.notAFile, status.kind)
            }
            throw LogError(error, path)
        }
        return try FileRecordStore(
            believed(file, path, target, in: fileSystem), at: path, in: fileSystem, mergedInto: target,
            writeRefusal: refusal, readsAroundFaults: isDamaged, poison: poison)
    }

    /// Checks that a file of pending changes belongs to this user. Another user could plant one to change the vault.
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
            return try FileRecordStore.open(path, mergedInto: target, poison: isPoisoned, in: fileSystem)
        } catch {
            // The file of pending changes may be missing because another process has merged the changes and removed it.
            guard error.code == .missing, let target else { throw error }
            return try target.open(.fresh)
        }
    }

    // A file of pending changes for a database is a copy of that database's vault, so it is bound to the same name.
    var vaultName: [UInt8]? { target?.vaultName }

    func forReader() throws(LogError) -> (any RecordStore)? {
        // Linux reports a failed flush only once per descriptor. If a reader flushed through the writer's descriptor,
        // the writer would not receive the error.
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
                // If the file has become writable since this store opened it, the caller must open the store again.
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
        // Usually no record has been appended, and the first few bytes after the log's end are enough to show that.
        return try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { (buffer) throws(LogError) in
            guard try read(into: buffer, at: end) == buffer.count else { return .none }
            let isZero = buffer.load(as: UInt64.self) | buffer.load(fromByteOffset: 8, as: UInt64.self) == 0
            return isZero ? .none : .some(upTo: nil, areDurable: false)
        }
    }

    /// Locks the file briefly, which makes NFS fetch its bytes from the server again. Uses a separate descriptor, since
    /// the writer uses the store's. Returns false if the file was replaced or another process holds the lock. Never
    /// waits, because the caller may hold the view's mutex, and the lock's holder may be waiting for that mutex.
    private func isReadAnew() throws(LogError) -> Bool {
        if isLocked.load(ordering: .relaxed) { return true }
        let own = try translated(fileSystem.open(path, .read), at: path)
        guard try translated(fileSystem.status(of: own), at: path).identity == fileIdentity else { return false }
        return try translated(fileSystem.tryLock(own, .shared), at: path)
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
            // If the user is not allowed to open the file's folder, the whole file system is flushed instead.
            guard error.isRefused else { throw LogError(error, folder) }
            try translated(fileSystem.synchronizeVolume(of: file), at: folder)
        }
    }

    /// Returns the file's identity and its folder's current state. The file's header and identity alone cannot tell it
    /// from a copy, which has the same header, and may even reuse the inode number of a removed original.
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

/// A flag that is set after a write with an unknown outcome. All stores that a process opens for one vault share it.
final class Poison: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}
