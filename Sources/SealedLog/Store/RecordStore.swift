package import LinuxSystem
import Sealing

/// The bytes of a sealed log and the lock on them. A store knows nothing of what the bytes mean.
///
/// Offsets and sizes are in bytes. Bytes before the log's end never change.
package protocol RecordStore: AnyObject, Sendable {
    /// Where it is, for messages.
    var path: String { get }
    /// The server that was asked last, for messages; nil if there is none.
    var server: String? { get }
    /// Whether that server only follows another one, and may lag.
    var isStandby: Bool { get }
    /// By its clock, in milliseconds since 1970: a hint, since the server may lie. nil if it was not asked for it.
    var serverTime: UInt64? { get }
    var identity: RecordStoreIdentity { get }
    /// The hash of the name that its vault has to be bound to; nil if it may have any: a file may be renamed.
    var vaultName: [UInt8]? { get }
    /// Whether a record is stored as a whole or not at all, and an unknown outcome shows at the next look: as in a
    /// database, where nothing behind the log's end is left over, and what can be read is durable.
    var isTransactional: Bool { get }
    /// Whether it is as this machine has kept it, and its place was not asked yet: its header may be an earlier one.
    var isAsKept: Bool { get }
    /// Whether this machine keeps its changes apart until they can be merged: it does not remember them as the vault's.
    var isProvisional: Bool { get }
    /// Whether a reader has to hold the lock to see what others have written.
    var needsLockToRead: Bool { get }
    var isWritable: Bool { get }
    /// Whether a parent process opened the store: its lock would be this process's too.
    var isInherited: Bool { get }

    /// What the store itself says of the log's end, apart from the log; nil if it says nothing, as a file does.
    var statedEnd: StatedEnd? { get }
    /// Shows all bytes that are there from now on, whatever the ``statedEnd`` is, which is nil then.
    func ignoreStatedEnd() throws(LogError)

    func size() throws(LogError) -> UInt64
    /// Reads up to the buffer's size; fewer bytes only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int
    /// Returns the offset of the next bytes, at or after `offset`, that are not in a hole; nil if there are none.
    func nextData(from offset: UInt64) throws(LogError) -> UInt64?
    /// Looks at what follows the end of a log that ends with `head`.
    func growth(after end: UInt64, _ head: LogPosition) throws(LogError) -> StoreGrowth
    /// What the log ends with in the copy that this machine keeps of the place; nil if it keeps none.
    var keptHead: LogPosition? { get }
    /// Keeps that copy as a file that nothing replaces, and posts a notice of it: this store lacks some of it.
    ///
    /// - Parameter end: returns where the log in the file ends; what follows does not belong to it.
    func keepCopy(upTo end: (any RecordStore) throws(LogError) -> UInt64) throws(LogError)
    /// Learns that the log has been opened on this store, and no alarm was raised. The copy becomes one of it.
    ///
    /// - Parameters:
    ///   - kept: the ``keptHead`` with which nothing is lost, since the log includes it: another process may have kept
    ///     more since.
    ///   - isContinued: whether this very log includes it, so that what is kept of the store is this store's.
    func accepted(over kept: LogPosition?, continuing isContinued: Bool)
    /// Learns that the log was followed up to `head`, and includes what is kept.
    func followed(to head: LogPosition, over kept: LogPosition?)
    /// Reads some of what is missing in that copy. A failure only leaves it as it is.
    func completeCopy()
    /// Makes durable what can be read.
    func synchronize() throws(LogError)
    /// Makes the location durable that leads to the store.
    func synchronizeLocation() throws(LogError)
    /// Bytes that differ once the location may lead to other bytes; nil if that cannot be told.
    func locationState() -> [UInt8]?
    /// How many servers may have the store. After a failover, a former primary has an older or a diverged one.
    var hostCount: Int { get }
    /// Asks the next server from now on.
    func turnToNextHost()

    /// Waits for the lock between processes. Two threads must not use it at once.
    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock
    func unlock()
    /// Begins what this machine keeps apart, if the lock could not be had since no server answers, and there is nothing
    /// yet.
    ///
    /// - Parameter check: reads and authenticates all of it, before it counts.
    func beginApart(
        until deadline: Deadline, _ check: (any RecordStore) throws(LogError) -> Void
    ) throws(LogError)
    /// Returns whether the location still leads to this store.
    func isCurrent() throws(LogError) -> Bool
    /// Returns the same by a look that is made now: a database may have lost the lock since the last one.
    func isStillCurrent() throws(LogError) -> Bool
    /// Opens the store that the location leads to now.
    func reopened() throws(LogError) -> any RecordStore
    /// Discards cached bytes after some of them failed to authenticate. Returns whether the bytes are read from the
    /// store's place, until ``endDoubt()``. Throws `unreachable` if they cannot be read there, `gone` if there is none.
    func distrust() throws(LogError) -> Bool
    /// Lets cached bytes count again.
    func endDoubt()
    /// Learns of bytes that were read, and have authenticated. In a doubt, they take the place of others in the copy
    /// that this machine keeps; nothing else does.
    func confirm(_ authentic: UnsafeRawBufferPointer, at offset: UInt64)

    // The caller of these holds the exclusive lock, and has read everything up to the log's end. All but `write` may
    // throw `outcomeUnknown` if nothing tells whether the newest record will last.

    /// Prepares for a record behind what others have written.
    ///
    /// - Parameters:
    ///   - newest: the bytes of the newest record, if its writer may have died before it was durable.
    ///   - end: where the log ends, if other bytes than zeros were seen behind it.
    func settle(rewriting newest: Range<UInt64>?, clearingFrom end: UInt64?) throws(LogError)
    /// Prepares for bytes that are written before the record in front of them: clears what is behind the log's end.
    func clear(from end: UInt64) throws(LogError)
    /// Writes bytes that no reader regards before a record in front of them is appended. Each is written once: a
    /// database keeps all that is written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError)
    /// Appends a record, and returns when it is durable. Throws `overtaken` if the log does not end with the record
    /// before; any other error but `outcomeUnknown` means that nothing was appended.
    func append(_ record: StoredRecord) throws(LogError)

    /// Creates an empty store, of the same owner and mode, that takes the place of this one once it is published, and
    /// takes its lock. The caller holds the lock of this one. Throws `busy` while another replacement is being written.
    ///
    /// - Parameter isImpatient: whether not to wait for others where they are no hindrance: of two replacements, the
    ///   second one throws `conflict` then.
    func makeReplacement(isImpatient: Bool) throws(LogError) -> StoreLock
    /// Prepares a new store, whose log ends at `end`, for the first append.
    ///
    /// - Parameter hint: where readers may begin.
    func finish(at end: UInt64, _ hint: Hint?) throws(LogError)
    /// Flushes a new store and puts it into place, durable only after ``synchronizeLocation()``. Throws `exists` if
    /// another store is there than the one that it may replace.
    ///
    /// - Parameters:
    ///   - old: the store in its place, whose lock is held; nil if there is none.
    ///   - head: what the log in it ends with.
    func publish(over old: Replaceable?, _ head: LogPosition) throws(LogError)
    func discard()
    /// Removes a replacement that a killed process has left. The caller holds the lock. Throws `busy` for one that is
    /// being written.
    func removeLeftReplacement() throws(LogError)
}

/// Is equal for two stores if they are one: the same file, or the same rows of a database.
package struct RecordStoreIdentity: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// Where a store says that the log ends. The next record is appended by that, so it has to be what the log, which is
/// authentic, ends with.
package struct StatedEnd: Sendable {
    package let position: LogPosition
    package let offset: UInt64
    /// Whether the store has bytes behind it.
    package let hasMore: Bool

    package init(_ position: LogPosition, at offset: UInt64, hasMore: Bool) {
        (self.position, self.offset, self.hasMore) = (position, offset, hasMore)
    }
}

/// What follows the end of a log.
package enum StoreGrowth: Sendable {
    case none
    case some
    /// The store does not end as the log does, or was replaced.
    case doubtful
}

/// A sealed record as a store appends it.
package struct StoredRecord: Sendable {
    package let offset: UInt64
    /// From its offset on. The rest was written before.
    package let bytes: [UInt8]
    package let end: UInt64
    package let previous: LogPosition
    package let position: LogPosition
    /// Of a record with a tree.
    package let hint: Hint?

    package var isWhole: Bool { UInt64(bytes.count) == end - offset }
}

/// A lock that is held as long as this value lives.
package struct StoreLock: ~Copyable, Sendable {
    package let store: any RecordStore

    package init(store: any RecordStore) { self.store = store }

    deinit { store.unlock() }

    consuming func release() {}
}

extension RecordStore {
    package var server: String? { nil }
    package var isStandby: Bool { false }
    package var serverTime: UInt64? { nil }

    /// The time by which it is decided what is too old to be kept: a clock that is ahead of the server's drops nothing
    /// for that. A server that lies can only have more kept.
    var retentionTime: UInt64 { min(Clock.milliseconds, serverTime ?? .max) }
    package var vaultName: [UInt8]? { nil }
    package var isAsKept: Bool { false }
    package var isProvisional: Bool { false }
    package var statedEnd: StatedEnd? { nil }
    package func ignoreStatedEnd() throws(LogError) {}
    package var keptHead: LogPosition? { nil }
    package func keepCopy(upTo end: (any RecordStore) throws(LogError) -> UInt64) throws(LogError) {}
    package func accepted(over kept: LogPosition?, continuing isContinued: Bool) {}
    package func followed(to head: LogPosition, over kept: LogPosition?) {}
    package func completeCopy() {}
    package func isStillCurrent() throws(LogError) -> Bool { try isCurrent() }
    package var hostCount: Int { 1 }
    package func turnToNextHost() {}
    package func distrust() throws(LogError) -> Bool { false }
    package func endDoubt() {}
    package func confirm(_ authentic: UnsafeRawBufferPointer, at offset: UInt64) {}

    /// Reads sealed bytes and opens them. If they do not authenticate, does so once more without cached bytes. A
    /// machine's copy of a database is never flushed, and the server may have been wrong when it was read.
    ///
    /// - Parameter stays: whether the copy is read no more afterwards, since it may be of another history: what follows
    ///   a record there is authentic, too.
    func rereading<Result: ~Copyable>(
        stayingInDoubt stays: Bool = false, _ read: () throws(LogError) -> Result
    ) throws(LogError) -> Result {
        do { return try read() } catch {
            guard error.code == .damaged, try distrust() else { throw error }
        }
        let result: Result
        do { result = try read() } catch {
            endDoubt()
            throw error
        }
        if !stays { endDoubt() }
        return result
    }
    package func beginApart(until: Deadline, _ check: (any RecordStore) throws(LogError) -> Void) throws(LogError) {}

    /// Returns the outcome of a replacement whose name could not be flushed.
    func unknownName(_ error: LogError) -> LogError {
        let cause = error.systemError.map { " (\(SystemError.words(for: $0)))" } ?? ""
        return LogError(
            .outcomeUnknown,
            "The name of \(path) could not be flushed\(cause): the change may or may not last, since a power loss "
                + "may bring the former file back. Keep all key files, former and new ones. Check the disk, then "
                + "verify the vault with a key that opens it.")
    }

    /// Runs `body`, and again with each of the other servers while it raises an alarm.
    func onNewestHost<Result>(_ body: () throws(LogError) -> Result) throws(LogError) -> Result {
        for _ in 1..<max(1, hostCount) {
            do throws(LogError) { return try body() } catch {
                guard LogError.Code.alarms.contains(error.code) else { throw error }
                turnToNextHost()
            }
        }
        return try body()
    }

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

    package func write(_ bytes: [UInt8], at offset: UInt64) throws(LogError) {
        try bytes.withRawBytes { (bytes) throws(LogError) in try write(bytes, at: offset) }
    }
}

extension Range<UInt64> {
    /// The range in pieces of a mebibyte.
    package var pieces: some Sequence<Range<UInt64>> {
        stride(from: lowerBound, to: upperBound, by: 1 << 20).lazy.map { $0..<Swift.min($0 + 1 << 20, upperBound) }
    }
}
