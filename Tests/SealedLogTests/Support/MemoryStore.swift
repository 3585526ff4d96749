import LinuxSystem
import Sealing

@testable import SealedFormat
@testable import SealedLog

/// A record store in memory, for trees that need no file.
final class MemoryStore: RecordStore {
    let path = "memory"
    let identity = RecordStoreIdentity([])
    private let bytes = Mutex<[UInt8]>([])

    func size() throws(LogError) -> UInt64 { bytes.withLock { UInt64($0.count) } }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int {
        let offset = Int(clamping: offset)
        let limit = buffer.count
        let found = bytes.withLock { Array($0.dropFirst(offset).prefix(limit)) }
        buffer.copyBytes(from: found)
        return found.count
    }

    func write(_ new: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError) {
        let offset = Int(offset)
        let new = Array(new)
        bytes.withLock { bytes in
            let missing = offset + new.count - bytes.count
            if missing > 0 { bytes.append(contentsOf: repeatElement(0, count: missing)) }
            bytes.replaceSubrange(offset..<offset + new.count, with: new)
        }
    }

    func synchronize() throws(LogError) {}
    func growth(after end: UInt64, _ head: LogPosition) throws(LogError) -> StoreGrowth { .none }
    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock? { StoreLock(store: self) }
    func unlock() {}
    func isCurrent() throws(LogError) -> Bool { true }
    func reopened() throws(LogError) -> any RecordStore { self }
    func makeReplacement(isImpatient: Bool) throws(LogError) -> any NewStore { throw LogError(.invalid) }
    func append(_ record: StoredRecord) throws(LogError) {}
    func announce(_ record: StoredRecord) throws(LogError) -> Bool { false }
}
