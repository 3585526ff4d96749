import LinuxSystem
import Sealing

@testable import SealedLog

/// A record store in memory, for trees that need no file.
final class MemoryStore: RecordStore {
    let location = "memory"
    let identity: FileStatus.Identity? = nil
    let isWritable = true
    let isInherited = false
    let needsLockToRead = false
    private let bytes = Mutex<[UInt8]>([])

    func size() throws(LogError) -> UInt64 { bytes.withLock { UInt64($0.count) } }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int {
        let (offset, limit) = (Int(clamping: offset), buffer.count)
        let found = bytes.withLock { Array($0.dropFirst(offset).prefix(limit)) }
        buffer.copyBytes(from: found)
        return found.count
    }

    func write(_ new: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError) {
        let (offset, new) = (Int(offset), Array(new))
        bytes.withLock { bytes in
            let missing = offset + new.count - bytes.count
            if missing > 0 { bytes.append(contentsOf: repeatElement(0, count: missing)) }
            bytes.replaceSubrange(offset..<offset + new.count, with: new)
        }
    }

    func nextData(from offset: UInt64) throws(LogError) -> UInt64? { offset < (try size()) ? offset : nil }
    func synchronize() throws(LogError) {}
    func synchronizeLocation() throws(LogError) {}
    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock { StoreLock(heldBy: self) }
    func unlock() {}
    func isCurrent() throws(LogError) -> Bool { true }
    func reopened() throws(LogError) -> any RecordStore { self }
    func makeReplacement() throws(LogError) -> any RecordStore { MemoryStore() }
    func publish(replacing: Bool) throws(LogError) {}
    func discard() {}
    func removeLeftReplacement() {}
}

/// Writes a tree into a store, one page after the other.
struct StoreSink: ByteSink {
    let store: any RecordStore
    private(set) var offset: UInt64

    init(_ store: any RecordStore, at offset: UInt64 = 4_096) {
        self.store = store
        self.offset = offset
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) throws(LogError) {
        try store.write(bytes, at: offset)
        offset += UInt64(bytes.count)
    }
}
