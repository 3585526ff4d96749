package import LinuxSystem
import Sealing

/// The bytes of a sealed log, and the operations in which the kinds of stores differ: how a record becomes durable,
/// which bytes may follow the log's end, and how a replacement is announced. A store cannot decode the bytes.
///
/// Offsets and sizes are in bytes. Bytes before the log's end never change.
package protocol RecordStore: AnyObject, Sendable {
    /// The path of the file, or the URL of the database, for messages.
    var path: String { get }
    var identity: RecordStoreIdentity { get }
    /// The hash of the name that its vault must be bound to; nil if any name is allowed, since a file may be renamed.
    var vaultName: [UInt8]? { get }
    /// The vault that the changes in this store are to be merged into; nil if this is the vault itself.
    var target: (any StoreLocation)? { get }
    /// The copy that this machine keeps of the store; nil if the store is always read from its location.
    var machineCopy: (any MachineCopy)? { get }
    /// The servers that have the store; nil for a file.
    var server: (any StoreServer)? { get }
    /// The smallest number of dead bytes that makes a compaction worthwhile.
    var deadBytesFloor: UInt64 { get }

    // MARK: Reading

    func size() throws(LogError) -> UInt64
    /// Reads up to the buffer's size. There are fewer bytes only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int
    /// Returns the offset of the next bytes, at or after `offset`, that are not in a hole; nil if there are none.
    func nextData(from offset: UInt64) throws(LogError) -> UInt64?
    /// Checks for records after the end of a log whose head is `head`.
    func growth(after end: UInt64, _ head: LogPosition) throws(LogError) -> StoreGrowth
    /// Classifies the bytes after the log's end, while no process can write: none, remains, or damage, which it throws.
    func examine(_ tail: LogTail) throws(LogError) -> TailState

    // MARK: Location

    func isCurrent() throws(LogError) -> Bool
    /// Opens the store that the location leads to now.
    func reopened() throws(LogError) -> any RecordStore
    /// Returns this store for a reader that flushes it, apart from this process's writer; nil if it was replaced.
    func forReader() throws(LogError) -> (any RecordStore)?
    /// Makes all bytes durable that can be read.
    func synchronize() throws(LogError)
    /// Makes the location durable that leads to the store.
    func synchronizeLocation() throws(LogError)
    /// Returns bytes that change when the location may lead to different bytes; nil if they cannot be read.
    func locationState() -> [UInt8]?

    // MARK: Writing

    /// Waits for the lock between processes. Two threads must not use it at the same time.
    ///
    /// - Returns: nil if the location now leads to another store, or if this process must open the store again, since
    ///   its parent has opened it.
    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock?
    func unlock()

    // The caller of these methods holds the exclusive lock and has read everything up to the log's end. All except
    // `write` may throw `outcomeUnknown` if it is uncertain whether the newest record is durable.

    /// Prepares for bytes after the log's end.
    func prepareAppend(behind end: LogEnd) throws(LogError)
    /// Writes bytes that readers ignore until a record in front of them is appended. Each byte is written only once: a
    /// database keeps everything that is written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError)
    /// Appends a record, and returns when it is durable. Throws `overtaken` if the log does not end with the record
    /// before. Any other error except `outcomeUnknown` means that nothing was appended.
    func append(_ record: StoredRecord) throws(LogError)
    /// Writes the record that announces a replacement.
    ///
    /// - Returns: whether it is durable and in the log at once. Otherwise it is when the replacement is published.
    func announce(_ record: StoredRecord) throws(LogError) -> Bool
    /// Creates an empty store of the same owner and mode, and takes its lock. It replaces this store once it is
    /// published. The caller holds the lock of this store. Throws `busy` while another replacement is being written.
    ///
    /// - Parameter isImpatient: whether to continue without waiting for other replacements if they are no hindrance.
    ///   The later one of two replacements then throws `conflict`.
    func makeReplacement(isImpatient: Bool) throws(LogError) -> any NewStore
}

/// A store that is being written, and that other processes do not find before it is published.
package protocol NewStore: RecordStore {
    /// Prepares the store, whose log ends at `end`, for the first append.
    ///
    /// - Parameter hint: the newest minor checkpoint; nil if there is none.
    func finish(at end: UInt64, _ hint: Hint?) throws(LogError)
    /// Flushes the store and makes its location lead to it, which is durable only after ``synchronizeLocation()``.
    /// Throws `exists` if the location leads to a store other than the one that may be replaced.
    ///
    /// - Parameters:
    ///   - old: the store at the location, whose lock is held; nil if there is none.
    ///   - head: the newest position of this store's log.
    func publish(over old: Replaceable?, _ head: LogPosition) throws(LogError)
    func discard()
}

/// A copy of a store that this machine keeps, so that a server is not asked for the same bytes again.
package protocol MachineCopy: AnyObject {
    /// The newest position of the log in the copy; nil if there is no copy.
    var head: LogPosition? { get }
    /// Saves the copy as a file that is never replaced, and posts a notice, because this store lacks some of it.
    ///
    /// - Parameter end: returns the end of the log in the file. Later bytes do not belong to it.
    func save(upTo end: (any RecordStore) throws(LogError) -> UInt64) throws(LogError)
    /// Records that the log was opened on this store without an alarm. The copy becomes one of this store.
    ///
    /// - Parameters:
    ///   - kept: the ``head`` that the log includes, so that nothing is lost. Another process may have saved later
    ///     records since.
    ///   - isContinued: whether this very log includes it, so that the copy's bytes are this store's.
    func accept(over kept: LogPosition?, continuing isContinued: Bool)
    /// Records that the log was followed up to `head`, and includes the position `kept`.
    func follow(to head: LogPosition, over kept: LogPosition?)
    /// Reads some of the bytes that are missing in the copy. A failure only leaves them missing.
    func complete()
    /// Discards cached bytes after some of them failed to authenticate. Returns whether bytes are now read from the
    /// store's location, until ``endDoubt()``. Throws `unreachable` if they cannot be read there, `gone` if there is no
    /// store.
    func distrust() throws(LogError) -> Bool
    func endDoubt()
    /// Records bytes that were read and have authenticated. During a doubt, they replace other bytes in the copy;
    /// otherwise nothing does.
    func confirm(_ authentic: UnsafeRawBufferPointer, at offset: UInt64)
    /// Begins a store for changes that wait to be merged, if no server answers the request for the lock and there is no
    /// such store yet.
    ///
    /// - Parameter check: reads and authenticates the whole store before it is used.
    func beginPending(until deadline: Deadline, _ check: (any RecordStore) throws(LogError) -> Void) throws(LogError)
    /// Returns the error of reading the log with its cause. If the whole log was read from the copy, the copy is what
    /// is damaged or old.
    func explanation(of error: LogError) -> LogError
}

/// The servers that have a store, and their statements about it.
package protocol StoreServer: AnyObject {
    /// The server that was used last, for messages.
    var name: String? { get }
    /// Whether that server follows another one and may lag behind.
    var isStandby: Bool { get }
    /// The time of its clock in milliseconds since 1970, a hint, since a server may be malicious; nil if not requested.
    var time: UInt64? { get }
    /// The number of servers that may have the store. After a failover, a former primary's is older or diverged.
    var hostCount: Int { get }
    /// Uses the next server from now on.
    func turnToNextHost()
    /// The end of the log as the server states it, apart from the log itself; nil after ``ignoreStatedEnd()``.
    var statedEnd: StatedEnd? { get }
    /// Shows all existing bytes from now on, whatever the ``statedEnd`` is.
    func ignoreStatedEnd() throws(LogError)
}

/// Identifies a store. It is equal for two stores if they are the same file, or the same rows of a database.
package struct RecordStoreIdentity: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// A lock that is held during the lifetime of this value.
package struct StoreLock: ~Copyable, Sendable {
    package let store: any RecordStore

    package init(store: any RecordStore) { self.store = store }

    deinit { store.unlock() }

    package consuming func release() {}
}

/// A store that another one may replace, since that one includes everything in it. ``NewStore/publish(over:_:)``
/// requires one, so a vault cannot be replaced in any other way.
package struct Replaceable: Sendable {
    /// The store. Its exclusive lock is held until it has been replaced.
    package let store: any RecordStore

    /// - Parameter store: a store that the other one includes. The caller ensures that before it uses this value.
    init(contained store: any RecordStore) { self.store = store }
}
