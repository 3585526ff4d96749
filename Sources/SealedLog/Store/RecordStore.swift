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
