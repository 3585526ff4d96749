package import LinuxSystem
import Sealing

/// The bytes of a sealed log, and the operations that differ between kinds of stores: how a record becomes durable,
/// which bytes may follow the log's end, and how a replacement is announced. A store cannot decode the bytes.
///
/// Offsets and sizes are in bytes. Bytes before the log's end never change.
package protocol RecordStore: AnyObject, Sendable {
    /// The path of the file or the URL of the database, for messages.
    var path: String { get }
    var identity: RecordStoreIdentity { get }
    /// The hash of the name that the vault must be bound to; nil if any name is allowed, since files may be renamed.
    var vaultName: [UInt8]? { get }
    /// The vault into which this store's pending changes are to be merged; nil if this is the vault itself.
    var target: (any StoreLocation)? { get }
    /// This machine's copy of the store; nil if the store is always read from its location.
    var machineCopy: (any MachineCopy)? { get }
    /// The servers that hold the store; nil for a file.
    var server: (any StoreServer)? { get }
    /// The number of dead bytes below which a compaction is not worthwhile.
    var deadBytesFloor: UInt64 { get }

    // MARK: Reading

    func size() throws(LogError) -> UInt64
    /// Fills the buffer, or reads fewer bytes at the end of the store. Returns the number of bytes read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int
    /// Returns the first offset at or after `offset` that is not in a hole; nil if no data follows.
    func nextData(from offset: UInt64) throws(LogError) -> UInt64?
    /// Checks whether the store has records after the log's known end. `head` is the log's newest known position.
    func growth(after end: UInt64, _ head: LogPosition) throws(LogError) -> StoreGrowth
    /// Classifies the bytes after the log's end. Throws if they indicate damage. No process may write during the call.
    func examine(_ tail: LogTail) throws(LogError) -> TailState

    // MARK: Location

    func isCurrent() throws(LogError) -> Bool
    /// Opens the store that is currently at the location.
    func reopened() throws(LogError) -> any RecordStore
    /// Returns this store for a reader whose flushes hide no errors from the writer; nil if the store was replaced.
    func forReader() throws(LogError) -> (any RecordStore)?
    /// Makes all readable bytes durable.
    func synchronize() throws(LogError)
    /// Makes the store's location durable, for example a file's directory entry.
    func synchronizeLocation() throws(LogError)
    /// Returns a value that changes whenever another store may have appeared at the location; nil if it cannot be read.
    func locationState() -> [UInt8]?

    // MARK: Writing

    /// Waits for the lock that excludes other processes. Only one thread of this process may use the lock at a time.
    ///
    /// - Returns: nil if the caller must open the store again, because another store has replaced it, or because this
    ///   process was forked from the process that opened the store.
    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock?
    func unlock()

    // Callers of the methods below must hold the exclusive lock and have read up to the log's end. All of them except
    // `write` may throw `outcomeUnknown` if the newest record might not be durable.

    /// Prepares the store for writing after the log's end.
    func prepareAppend(behind end: LogEnd) throws(LogError)
    /// Writes bytes that readers ignore until the start of their record is appended. The caller writes each byte only
    /// once, since a database keeps everything that is written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError)
    /// Appends a record and returns once it is durable. Throws `overtaken` if the log does not end with the record's
    /// predecessor. After any other error except `outcomeUnknown`, the log is unchanged.
    func append(_ record: StoredRecord) throws(LogError)
    /// Writes the record that announces a replacement.
    ///
    /// - Returns: whether the record is already durable and in the log. Otherwise `publish` adds the record.
    func announce(_ record: StoredRecord) throws(LogError) -> Bool
    /// Creates an empty store with this store's owner and mode, and acquires its lock. The new store replaces this one
    /// when it is published. The caller holds this store's lock. Throws `busy` during another replacement.
    ///
    /// - Parameter isImpatient: whether to proceed without waiting for other replacements if the store permits that. In
    ///   this case, the later of two replacements throws `conflict`.
    func makeReplacement(isImpatient: Bool) throws(LogError) -> any NewStore
}

/// A store that is being written. Other processes cannot find it until it is published.
package protocol NewStore: RecordStore {
    /// Prepares the store, whose log ends at `end`, for the first append.
    ///
    /// - Parameter hint: the newest minor checkpoint's hint; nil if there is no minor checkpoint.
    func finish(at end: UInt64, _ hint: Hint?) throws(LogError)
    /// Flushes the store and publishes it at its location. The new location is durable only after
    /// ``synchronizeLocation()``. Throws `exists` if a store other than `old` is at the location.
    ///
    /// - Parameters:
    ///   - old: the store at the location, whose lock the caller holds; nil if no store is there.
    ///   - head: the newest position of this store's log.
    func publish(over old: Replaceable?, _ head: LogPosition) throws(LogError)
    func discard()
}

/// This machine's copy of a store, which avoids repeated requests to the server for the same bytes.
package protocol MachineCopy: AnyObject {
    /// The newest log position in the copy; nil if no copy exists.
    var head: LogPosition? { get }
    /// Saves this machine's copy, which has changes that the store lacks, to a permanent file. Posts a notice.
    ///
    /// - Parameter end: returns the end of the log in the file. Later bytes are not part of the log.
    func save(upTo end: (any RecordStore) throws(LogError) -> UInt64) throws(LogError)
    /// Records that the log was opened without a rollback error. From then on, the copy counts as this store's.
    ///
    /// - Parameters:
    ///   - kept: the copy's ``head``, which the log includes. Another process may already have saved later records.
    ///   - isContinued: whether this log includes the copy's end. If so, the copy's bytes of this generation are valid.
    func accept(over kept: LogPosition?, continuing isContinued: Bool)
    /// Records that this process has read the log up to `head`, and that the log includes the position `kept`.
    func follow(to head: LogPosition, over kept: LogPosition?)
    /// Fetches from the server some bytes that the copy lacks; each further call fetches more. Ignores errors.
    func complete()
    /// Discards cached bytes after some of them failed to authenticate. Returns whether reads now bypass the copy until
    /// ``endDoubt()``. Throws `unreachable` if the location cannot be reached, or `gone` if the store no longer exists.
    func distrust() throws(LogError) -> Bool
    func endDoubt()
    /// Records that this process has read and authenticated these bytes. Between ``distrust()`` and ``endDoubt()``,
    /// these bytes overwrite the copy's bytes. At other times, they only fill the copy's gaps.
    func confirm(_ authentic: UnsafeRawBufferPointer, at offset: UInt64)
    /// Creates a store for pending changes if no server has answered the lock request and no such store exists yet.
    ///
    /// - Parameter check: reads and authenticates the whole new store before the store is used.
    func beginPending(until deadline: Deadline, _ check: (any RecordStore) throws(LogError) -> Void) throws(LogError)
    /// Returns `error`, or an error that names this machine's copy as the cause if the whole log was read from it.
    func explanation(of error: LogError) -> LogError
}

/// The servers that hold a store, and the metadata that they report about it.
package protocol StoreServer: AnyObject {
    /// The name of the most recently used server, for messages.
    var name: String? { get }
    /// Whether the most recently used server is a standby, which may lag behind its primary.
    var isStandby: Bool { get }
    /// The server's time in milliseconds since 1970; nil until requested. A malicious server can report any time.
    var time: UInt64? { get }
    /// The number of servers that may hold the store. The store on a former primary may be older or have diverged.
    var hostCount: Int { get }
    func turnToNextHost()
    /// The log's end, which the server reports separately from the log's bytes; nil after ``ignoreStatedEnd()``.
    var statedEnd: StatedEnd? { get }
    /// Lets reads continue past the ``statedEnd``, up to the last byte that exists.
    func ignoreStatedEnd() throws(LogError)
}

/// The identity of a store. Two stores have the same identity if they are the same file or the same rows of a database.
package struct RecordStoreIdentity: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// A lock on a store, held for the lifetime of this value.
package struct StoreLock: ~Copyable, Sendable {
    package let store: any RecordStore

    package init(store: any RecordStore) { self.store = store }

    deinit { store.unlock() }

    package consuming func release() {}
}

/// A store that may be replaced, because a check has shown that its replacement includes everything in it.
/// ``NewStore/publish(over:_:)`` requires this type, so a vault cannot be replaced without that check.
package struct Replaceable: Sendable {
    /// The store to be replaced. The caller holds its exclusive lock until the replacement is published.
    package let store: any RecordStore

    /// Marks a store as replaceable. The caller must ensure that the replacement includes everything in this store.
    init(contained store: any RecordStore) { self.store = store }
}

// Values that a log and its store pass to each other to describe the log's end.

package enum StoreGrowth: Sendable {
    case none
    /// The store has records after the log's known end. `upTo` is the new end, if the store reports it.
    ///
    /// - Parameter areDurable: whether all readable records are durable.
    case some(upTo: StatedEnd?, areDurable: Bool)
    /// The log must be opened again, because its end differs from the store's, or because the store has been replaced.
    case doubtful
}

/// The log's end as reported by the store. It must equal the end that is found by authenticating the log, because the
/// store accepts only a record that follows the reported end.
package struct StatedEnd: Sendable {
    package let position: LogPosition
    package let offset: UInt64
    /// Whether the store has bytes after the reported end.
    package let hasMore: Bool

    package init(_ position: LogPosition, at offset: UInt64, hasMore: Bool) {
        self.position = position
        self.offset = offset
        self.hasMore = hasMore
    }
}

package struct LogTail: Sendable {
    /// The kind of bytes that follow the log's last record.
    package enum Remains: Sendable {
        case nothing
        /// The bytes are a torn or damaged record. The text states why the record is invalid.
        case failing(StaticString)
        /// The bytes are an authentic record that cannot be the next one. No interrupted writer leaves such a record.
        case foreign(StaticString)
    }

    package let end: UInt64
    package let head: LogPosition
    package let remains: Remains
    package let vaultID: [UInt8]
}

package struct TailState: Sendable {
    /// Whether nonzero bytes follow the log's end. If so, the next writer clears them before it appends a record.
    package let needsClearing: Bool
    /// Whether the store returns only durable records, so that the newest one is known to be durable.
    package let isDurable: Bool

    package init(needsClearing: Bool, isDurable: Bool) {
        self.needsClearing = needsClearing
        self.isDurable = isDurable
    }
}

/// The end of a log to which a record is about to be appended.
package struct LogEnd: Sendable {
    package let offset: UInt64
    /// The range of the newest record if its writer may have died before making it durable; nil otherwise.
    package let undurable: Range<UInt64>?
    /// Whether nonzero bytes were found after the log's end.
    package let needsClearing: Bool
    /// Whether the next record's payload is written before its head.
    package let isPayloadFirst: Bool

    package init(
        at offset: UInt64, undurable: Range<UInt64>? = nil, needsClearing: Bool = false, isPayloadFirst: Bool = false
    ) {
        self.offset = offset
        self.undurable = undurable
        self.needsClearing = needsClearing
        self.isPayloadFirst = isPayloadFirst
    }
}

/// A sealed record in the form that a store appends.
package struct StoredRecord: Sendable {
    package let offset: UInt64
    /// The record's first bytes. The remaining bytes, if any, are already in the store.
    package let bytes: [UInt8]
    package let end: UInt64
    package let previous: LogPosition
    package let position: LogPosition
    /// The hint that helps readers find the record's tree; nil if the record has no tree.
    package let hint: Hint?

    package var isWhole: Bool { UInt64(bytes.count) == end - offset }
}
