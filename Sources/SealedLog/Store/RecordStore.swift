package import LinuxSystem
import Sealing

/// The bytes of a sealed log, and what each kind of store does in its own way: how a record becomes durable, what may
/// stand behind the log's end, how a replacement is announced. A store does not know what the bytes mean.
///
/// Offsets and sizes are in bytes. Bytes before the log's end never change.
package protocol RecordStore: AnyObject, Sendable {
    /// The path of the file, or the URL of the database, for messages.
    var path: String { get }
    var identity: RecordStoreIdentity { get }
    /// The hash of the name that its vault has to be bound to; nil if it may have any: a file may be renamed.
    var vaultName: [UInt8]? { get }
    /// The vault that the changes in this store wait for, until they can be merged; nil if this is the vault itself.
    var target: (any StoreLocation)? { get }
    /// What this machine keeps of the store; nil if the store is always read from its location.
    var machineCopy: (any MachineCopy)? { get }
    /// The servers that have the store; nil for a file.
    var server: (any StoreServer)? { get }
    /// How many dead bytes, at least, are worth a compaction.
    var deadBytesFloor: UInt64 { get }

    // MARK: Reading

    func size() throws(LogError) -> UInt64
    /// Reads up to the buffer's size; fewer bytes only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int
    /// Returns the offset of the next bytes, at or after `offset`, that are not in a hole; nil if there are none.
    func nextData(from offset: UInt64) throws(LogError) -> UInt64?
    /// Checks what follows the end of a log that ends with `head`.
    func growth(after end: UInt64, _ head: LogPosition) throws(LogError) -> StoreGrowth
    /// Decides, while no process can write, what is behind the log's end: nothing, what an interrupted writer may have
    /// left, or damage, which it throws.
    func examine(_ tail: LogTail) throws(LogError) -> TailState

    // MARK: Location

    /// Returns whether the location still leads to this store.
    func isCurrent() throws(LogError) -> Bool
    /// Opens the store that the location leads to now.
    func reopened() throws(LogError) -> any RecordStore
    /// Returns this store for a reader that flushes it, independent of this process's writer; nil if the location leads
    /// to another store by now.
    func forReader() throws(LogError) -> (any RecordStore)?
    /// Makes durable what can be read.
    func synchronize() throws(LogError)
    /// Makes the location durable that leads to the store.
    func synchronizeLocation() throws(LogError)
    /// Returns bytes that differ once the location may lead to other bytes; nil if they cannot be read.
    func locationState() -> [UInt8]?

    // MARK: Writing

    /// Waits for the lock between processes. Two threads must not use it at once.
    ///
    /// - Returns: nil if the location leads to another store by now, or if this process has to open the store again,
    ///   since its parent has opened it.
    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock?
    func unlock()

    // The caller of these holds the exclusive lock, and has read everything up to the log's end. All but `write` may
    // throw `outcomeUnknown` if nothing shows whether the newest record will last.

    /// Prepares for bytes behind the log's end.
    func prepareAppend(behind end: LogEnd) throws(LogError)
    /// Writes bytes that no reader regards before a record in front of them is appended. Each is written once: a
    /// database keeps all that is written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError)
    /// Appends a record, and returns when it is durable. Throws `overtaken` if the log does not end with the record
    /// before; any other error but `outcomeUnknown` means that nothing was appended.
    func append(_ record: StoredRecord) throws(LogError)
    /// Appends the record that announces a replacement. It is durable at the latest when the replacement is published.
    func announce(_ record: StoredRecord) throws(LogError)
    /// Creates an empty store, of the same owner and mode, that takes the place of this one once it is published, and
    /// takes its lock. The caller holds the lock of this one. Throws `busy` while another replacement is being written.
    ///
    /// - Parameter isImpatient: whether not to wait for others if they are no hindrance: of two replacements, the
    ///   second one throws `conflict` then.
    func makeReplacement(isImpatient: Bool) throws(LogError) -> any NewStore
}

/// A store that is being written, and that nobody finds before it is published.
package protocol NewStore: RecordStore {
    /// Prepares the store, whose log ends at `end`, for the first append.
    ///
    /// - Parameter hint: where readers may begin.
    func finish(at end: UInt64, _ hint: Hint?) throws(LogError)
    /// Flushes the store and lets the location lead to it, which is durable only after ``synchronizeLocation()``. Throws
    /// `exists` if the location leads to another store than the one that this one may replace.
    ///
    /// - Parameters:
    ///   - old: the store at the location, whose lock is held; nil if there is none.
    ///   - head: what the log in it ends with.
    func publish(over old: Replaceable?, _ head: LogPosition) throws(LogError)
    func discard()
}

/// A copy of a store that this machine keeps, so that it need not ask a server for what it has read before.
package protocol MachineCopy: AnyObject {
    /// The position at which the log ends in the copy; nil if there is no copy.
    var head: LogPosition? { get }
    /// Saves the copy as a file that nothing replaces, and posts a notice of it: this store lacks some of it.
    ///
    /// - Parameter end: returns where the log in the file ends; what follows does not belong to it.
    func save(upTo end: (any RecordStore) throws(LogError) -> UInt64) throws(LogError)
    /// Records that the log was opened on this store, and no alarm was raised. The copy becomes one of it.
    ///
    /// - Parameters:
    ///   - kept: the ``head`` with which nothing is lost, since the log includes it: another process may have kept more
    ///     since.
    ///   - isContinued: whether this very log includes it, so that what is kept of the store is this store's.
    func accept(over kept: LogPosition?, continuing isContinued: Bool)
    /// Records that the log was followed up to `head`, and includes what is kept.
    func follow(to head: LogPosition, over kept: LogPosition?)
    /// Reads some of what is missing in the copy. A failure only leaves it as it is.
    func complete()
    /// Discards cached bytes after some of them failed to authenticate. Returns whether the bytes are read from the
    /// store's location, until ``endDoubt()``. Throws `unreachable` if they cannot be read there, `gone` if there is no
    /// store.
    func distrust() throws(LogError) -> Bool
    /// Uses cached bytes again.
    func endDoubt()
    /// Records bytes that were read, and have authenticated. In a doubt, they replace others in the copy; nothing else
    /// does.
    func confirm(_ authentic: UnsafeRawBufferPointer, at offset: UInt64)
    /// Begins a store for changes that wait to be merged, if the lock could not be had since no server answers, and
    /// there is none yet.
    ///
    /// - Parameter check: reads and authenticates all of it, before it counts.
    func beginPending(
        until deadline: Deadline, _ check: (any RecordStore) throws(LogError) -> Void
    ) throws(LogError)
    /// Returns an error of reading the log. If all of the log was read from the copy, damage or age is that of the copy.
    func explanation(of error: LogError) -> LogError
}

/// The servers that have a store, and what they say of it beside its bytes.
package protocol StoreServer: AnyObject {
    /// The server that was asked last, for messages.
    var name: String? { get }
    /// Whether that server only follows another one, and may lag.
    var isStandby: Bool { get }
    /// The time by its clock, in milliseconds since 1970: a hint, since the server may lie. nil if it was not asked.
    var time: UInt64? { get }
    /// How many servers may have the store. After a failover, a former primary has an older or a diverged one.
    var hostCount: Int { get }
    /// Asks the next server from now on.
    func turnToNextHost()
    /// Where the server says that the log ends, apart from the log; nil after ``ignoreStatedEnd()``.
    var statedEnd: StatedEnd? { get }
    /// Shows all bytes that are there from now on, whatever the ``statedEnd`` is.
    func ignoreStatedEnd() throws(LogError)
}

/// Is equal for two stores if they are one: the same file, or the same rows of a database.
package struct RecordStoreIdentity: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// A lock that is held as long as this value lives.
package struct StoreLock: ~Copyable, Sendable {
    package let store: any RecordStore

    package init(store: any RecordStore) { self.store = store }

    deinit { store.unlock() }

    package consuming func release() {}
}
