private import Glibc
import LinuxSystem
import Sealing

/// The bytes of a sealed log and the lock on them. A store knows nothing of what the bytes mean.
protocol RecordStore: AnyObject, Sendable {
    /// The path, for messages.
    var location: String { get }
    var identity: FileStatus.Identity { get }
    /// Whether a reader has to hold the lock to see what others have written.
    var needsLockToRead: Bool { get }
    var isWritable: Bool { get }
    /// Whether a parent process opened the store: its lock would be this process's too.
    var isInherited: Bool { get }

    func size() throws(LogError) -> UInt64
    /// Reads up to the buffer's size; fewer bytes only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError)
    /// Returns the offset of the next bytes, at or after `offset`, that are not in a hole; nil if there are none.
    func nextData(from offset: UInt64) throws(LogError) -> UInt64?
    func synchronize() throws(LogError)
    /// Flushes the folder, and with it the file's name.
    func synchronizeLocation() throws(LogError)

    /// Waits for the lock between processes. Two threads must not use it at once.
    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock
    func unlock()
    /// Returns whether the location still leads to this store.
    func isCurrent() throws(LogError) -> Bool
    /// Opens the store that the location leads to now.
    func reopened() throws(LogError) -> any RecordStore

    /// Creates an empty store, of the same owner and mode, that takes the place of this one once it is published, and
    /// takes its lock. The caller holds the lock of this one. Throws `busy` while another replacement is being written.
    func makeReplacement() throws(LogError) -> StoreLock
    /// Flushes the replacement and renames it into place. The rename itself is durable only after
    /// ``synchronizeLocation()``. Throws `exists` if there is a file that may not be replaced.
    func publish(replacing: Bool) throws(LogError)
    func discard()
    /// Removes a replacement that a killed process has left. The caller holds the lock. Throws `busy` for one that is
    /// being written.
    func removeLeftReplacement() throws(LogError)
}

/// A lock that is held as long as this value lives.
struct StoreLock: ~Copyable, Sendable {
    let store: any RecordStore

    deinit { store.unlock() }

    consuming func release() {}
}

extension RecordStore {
    /// Reads exactly `count` bytes; `damaged` if the file ends before.
    func bytes(at offset: UInt64, count: Int) throws(LogError) -> [UInt8] {
        let bytes = try available(at: offset, upTo: count)
        guard bytes.count == count else { throw .cut(at: offset) }
        return bytes
    }

    /// Reads as many bytes as there are, at most `count`.
    func available(at offset: UInt64, upTo count: Int) throws(LogError) -> [UInt8] {
        var failure: LogError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let buffer = UnsafeMutableRawBufferPointer(buffer)
            do throws(LogError) { initialized = try read(into: buffer, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Returns whether there are only zeros, as far as the file reaches.
    func isZero(_ range: Range<UInt64>) throws(LogError) -> Bool {
        for piece in range.pieces {
            let bytes = try available(at: piece.lowerBound, upTo: piece.count)
            guard bytes.withUnsafeBytes({ $0.isZero }) else { return false }
        }
        return true
    }

    /// Returns the offset behind the last byte that is not zero; the range's start if there is none.
    func endOfData(in range: Range<UInt64>) throws(LogError) -> UInt64 {
        var end = range.lowerBound
        for piece in range.pieces {
            let bytes = try available(at: piece.lowerBound, upTo: piece.count)
            if let last = bytes.lastIndex(where: { $0 != 0 }) { end = piece.lowerBound + UInt64(last) + 1 }
        }
        return end
    }

    func write(_ bytes: [UInt8], at offset: UInt64) throws(LogError) {
        try bytes.withRawBytes { (bytes) throws(LogError) in try write(bytes, at: offset) }
    }

    func writeZeros(_ range: Range<UInt64>) throws(LogError) {
        for piece in range.pieces { try write([UInt8](repeating: 0, count: piece.count), at: piece.lowerBound) }
    }

    /// Overwrites with zeros from the back to the front, the first sector last and by itself. Holes stay holes. If the
    /// process is killed on the way, zeros at the front would pass for the end of the log, with remains behind it.
    func clear(_ range: Range<UInt64>) throws(LogError) {
        let sectorEnd = min(range.upperBound, (range.lowerBound / Limits.sector + 1) * Limits.sector)
        var end = range.upperBound
        while end > sectorEnd {
            let start = end - min(end - sectorEnd, 1 << 20)
            if let data = try nextData(from: start), data < end { try writeZeros(data..<end) }
            end = start
        }
        try writeZeros(range.lowerBound..<sectorEnd)
    }

    /// Writes the same bytes again: after a failed flush Linux regards pages as clean that never reached the disk.
    func rewrite(_ range: Range<UInt64>) throws(LogError) {
        for piece in range.pieces { try write(bytes(at: piece.lowerBound, count: piece.count), at: piece.lowerBound) }
    }
}

extension Range<UInt64> {
    /// The range in pieces of a mebibyte.
    var pieces: some Sequence<Range<UInt64>> {
        stride(from: lowerBound, to: upperBound, by: 1 << 20).lazy.map { $0..<Swift.min($0 + 1 << 20, upperBound) }
    }
}

// MARK: - In a file

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
