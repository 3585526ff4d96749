import LinuxSystem
import Sealing

@testable import SealedLog

/// A record store in memory, for trees that need no file.
final class MemoryStore: RecordStore {
    let path = "memory"
    let identity = RecordStoreIdentity([])
    let isTransactional = false
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
    func growth(after end: UInt64, _ head: LogPosition) throws(LogError) -> StoreGrowth { .none }
    func synchronizeLocation() throws(LogError) {}
    func locationState() -> [UInt8]? { nil }
    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock { StoreLock(store: self) }
    func unlock() {}
    func isCurrent() throws(LogError) -> Bool { true }
    func reopened() throws(LogError) -> any RecordStore { self }
    func makeReplacement(isImpatient: Bool) throws(LogError) -> StoreLock { throw LogError(.invalid) }
    func settle(rewriting newest: Range<UInt64>?, clearingFrom end: UInt64?) throws(LogError) {}
    func clear(from end: UInt64) throws(LogError) {}
    func append(_ record: StoredRecord) throws(LogError) {}
    func finish(at end: UInt64, _ hint: Hint?) throws(LogError) {}
    func publish(over old: Replaceable?, _ head: LogPosition) throws(LogError) {}
    func discard() {}
    func removeLeftReplacement() throws(LogError) {}
}
