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

    func read(into buffer: UnsafeMutableRawBufferPointer, at place: UInt64) throws(LogError) -> Int {
        let (place, limit) = (Int(clamping: place), buffer.count)
        let found = bytes.withLock { Array($0.dropFirst(place).prefix(limit)) }
        buffer.copyBytes(from: found)
        return found.count
    }

    func write(_ new: UnsafeRawBufferPointer, at place: UInt64) throws(LogError) {
        let (place, new) = (Int(place), Array(new))
        bytes.withLock { bytes in
            let missing = place + new.count - bytes.count
            if missing > 0 { bytes.append(contentsOf: repeatElement(0, count: missing)) }
            bytes.replaceSubrange(place..<place + new.count, with: new)
        }
    }

    func nextData(from place: UInt64) throws(LogError) -> UInt64? { place < (try size()) ? place : nil }
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
    private(set) var place: UInt64

    init(_ store: any RecordStore, at place: UInt64 = 4_096) {
        self.store = store
        self.place = place
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) throws(LogError) {
        try store.write(bytes, at: place)
        place += UInt64(bytes.count)
    }
}
