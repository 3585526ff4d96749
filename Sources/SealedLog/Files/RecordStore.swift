package import LinuxSystem
import Sealing

/// Where the bytes of a sealed log lie. What they mean is not its business.
package protocol RecordStore: AnyObject, Sendable {
    /// For messages: the path.
    var location: String { get }

    /// What tells one store from another in this process; nil if nothing does.
    var identity: FileStatus.Identity? { get }

    func size() throws(LogError) -> UInt64
    /// Reads up to the buffer's size; fewer bytes only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError)
    /// Where the next bytes lie that are not in a hole, at or behind an offset; nil if there are none.
    func nextData(from offset: UInt64) throws(LogError) -> UInt64?
    /// Makes what was written durable.
    func synchronize() throws(LogError)
    /// Makes the name under which the bytes are found durable.
    func synchronizeLocation() throws(LogError)
    /// Waits for the lock between processes. Not for use by two threads at once.
    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock
    func unlock()
    /// Whether a reader has to hold the lock to see what others have written.
    var needsLockToRead: Bool { get }
    /// Whether it may be written to.
    var isWritable: Bool { get }
    /// Whether a parent process opened the store: its lock would be ours.
    var isInherited: Bool { get }
    /// Whether the location still leads to these bytes.
    func isCurrent() throws(LogError) -> Bool
    /// The store that the location leads to now.
    func reopened() throws(LogError) -> any RecordStore
    /// An empty store that can take the place of this one, at the same location, once it is published.
    func makeReplacement() throws(LogError) -> any RecordStore
    /// Makes all the bytes of a replacement durable and lets the location lead to them; that it does is durable only
    /// after ``synchronizeLocation()``.
    ///
    /// - Throws: `exists` if something is there that may not be replaced.
    func publish(replacing: Bool) throws(LogError)
    /// Gives a replacement up.
    func discard()
    /// Removes a replacement that a killed process has left. The caller holds the lock.
    func removeLeftReplacement()
}

/// A lock that is held until this value goes.
package struct StoreLock: ~Copyable, Sendable {
    private let store: any RecordStore

    init(heldBy store: any RecordStore) {
        self.store = store
    }

    deinit {
        store.unlock()
    }

    /// Gives the lock back.
    package consuming func release() {}
}

extension RecordStore {
    /// Exactly `count` bytes.
    ///
    /// - Throws: `damaged` if the store ends before.
    func bytes(at offset: UInt64, count: Int) throws(LogError) -> [UInt8] {
        let bytes = try available(at: offset, upTo: count)
        guard bytes.count == count else { throw LogError.damaged("the file ends too early; it was cut", at: offset) }
        return bytes
    }

    /// As many bytes as there are, at most `count`.
    func available(at offset: UInt64, upTo count: Int) throws(LogError) -> [UInt8] {
        var failure: LogError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(LogError) {
                initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: UInt64) throws(LogError) {
        try bytes.withRawBytes { (bytes) throws(LogError) in try write(bytes, at: offset) }
    }

    func writeZeros(_ range: Range<UInt64>) throws(LogError) {
        let zeros = [UInt8](repeating: 0, count: Int(min(UInt64(range.count), 1 << 20)))
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = Int(min(range.upperBound - offset, UInt64(zeros.count)))
            try zeros.withRawBytes { (zeros) throws(LogError) in
                try write(UnsafeRawBufferPointer(rebasing: zeros[..<count]), at: offset)
            }
            offset += UInt64(count)
        }
    }

    /// Overwrites with zeros from the back to the front, the first sector at the very end and by itself.
    ///
    /// Who is killed in the midst of it leaves something at the front, where everyone else looks: zeros there would
    /// pass for the end of the log, with what is left behind them. Holes stay holes.
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

    /// Whether there are only zeros, as far as the store reaches.
    func isZero(_ range: Range<UInt64>) throws(LogError) -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let piece = try available(at: offset, upTo: Int(min(range.upperBound - offset, 1 << 20)))
            guard !piece.isEmpty else { break }
            guard piece.withUnsafeBytes({ $0.isZero }) else { return false }
            offset += UInt64(piece.count)
        }
        return true
    }

    /// Writes what is there once more: after a flush that failed Linux takes for clean what never reached the disk.
    func rewrite(_ range: Range<UInt64>) throws(LogError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let piece = try bytes(at: offset, count: Int(min(range.upperBound - offset, 1 << 20)))
            try write(piece, at: offset)
            offset += UInt64(piece.count)
        }
    }
}
