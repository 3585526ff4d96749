private import Glibc
import LinuxSystem
package import Sealing

/// One vault file, for all of a process: the same file opened twice is one log.
///
/// Reads follow the file without a lock. Writes of several threads are gathered: the first to get the writer's lock
/// writes one record for all that wait.
package final class SealedLog: Sendable {
    /// State that belongs to the thread that writes.
    struct Writer: Sendable {
        /// The file whose name this log has flushed, or knows to be flushed.
        var durableFile: CheckpointFile?
        /// The fingerprint of the file whose name the memory knows to be durable.
        var rememberedFingerprint: Authenticator?
        /// After a failed compaction: the sequence number before which there is no other try.
        var compactAfter: UInt64 = 0
    }

    package let vaultID: [UInt8]
    let memory: RollbackMemory?
    let notices: NoticeBoard
    /// How long a reader waits for the lock, once something is doubtful.
    let lockTimeout: Duration
    /// The process that has opened it.
    private let processID = getpid()
    /// Whether this opening has accepted the file in spite of an alarm.
    let isAccepted: Bool
    /// What the memory held then: it may be read-only.
    let overruled: Mutex<[UInt8]?>
    let view: Mutex<LogView>
    /// Beside the view, which readers and a compaction's thread hold for longer.
    private let keyRing: Mutex<KeyRing>
    let writer: Mutex<Writer>
    /// Makes or reads the key by which this machine signs; nil if it signs nothing.
    let deviceKey: (@Sendable () throws(LogError) -> DeviceKey)?
    let knownDeviceKey = Mutex<DeviceKey?>(nil)
    /// Of the file that was looked at last.
    let membership = Mutex<Membership?>(nil)
    /// Whether the user has accepted that this is another history than the one that this machine remembers.
    let acceptsOtherHistory: Bool
    let queue = CommitQueue()
    let upkeep: Upkeep
    /// Whether this process holds the lock of the copy whose changes are merged, and would wait for itself there.
    let holdsPending = Mutex(false)

    /// - Parameter view: was followed to its end and compared with what this machine remembers.
    init(
        _ view: LogView, _ memory: RollbackMemory?, _ options: Options, isAccepted: Bool = false,
        overruled: [UInt8]? = nil, rememberedFingerprint fingerprint: Authenticator? = nil
    ) {
        vaultID = view.header.vaultID
        self.memory = memory
        notices = memory?.notices ?? NoticeBoard()
        lockTimeout = options.lockTimeout
        deviceKey = options.deviceKey
        acceptsOtherHistory = options.accepted.contains(.diverged)
        upkeep = Upkeep(isAutomatic: options.compactsByItself)
        self.isAccepted = isAccepted
        self.overruled = Mutex(overruled)
        var view = view
        view.cache.limit = options.indexMemory / Limits.pageSize
        self.view = Mutex(view)
        keyRing = Mutex(view.keys)
        writer = Mutex(Writer(rememberedFingerprint: fingerprint))
    }

    /// Those of the file that this log shows now: a rotation exchanges them.
    package var keys: KeyRing { keyRing.withLock { $0 } }

    /// Shows another file, or this one anew.
    func show(_ next: LogView) {
        view.withLock { $0.replace(by: next) }
        adopt(next.keys)
    }

    /// Uses the keys of the view from now on.
    func adopt(_ keys: KeyRing) {
        guard keys !== self.keys else { return }
        keyRing.withLock { $0 = keys }
        memory?.adopt(keys)
    }

    package func takeNotices() -> [Notice] { notices.take() }

    /// Whether this process has opened it: a child process has a copy of its parent's log, and none of its threads.
    var isOwn: Bool { processID == getpid() }

    /// Whether changes are kept apart until they can be merged.
    package var keepsChangesApart: Bool { view.withLock { $0.store.target != nil } }
}

/// An opened value, with what its entry says of it.
package struct OpenedValue: ~Copyable {
    package let kind: UInt8
    /// Unique to each value.
    package let nonce: Nonce
    package let bytes: SecretBytes

    package consuming func takeBytes() -> SecretBytes { bytes }

    init(_ sealed: SealedValue) throws(LogError) {
        (kind, nonce) = (sealed.version.kind, sealed.version.nonce)
        bytes = try sealed.opened()
    }
}

extension SealedLog {
    // All of these throw `damaged`, `busy`, `unavailable`, and what a replaced file may bring. Those that open values
    // throw `outOfMemory` too.

    /// Returns nil for a name that is absent, as the next two. A name whose value has expired is absent.
    package func entry(_ name: EntryName) throws(LogError) -> Entry? {
        let entry = try read(isSure: true) { (view) throws(LogError) in try view.find(name) }
        return entry.flatMap { $0.isPresent(at: Clock.milliseconds) ? $0 : nil }
    }

    /// Returns what is present under a name as far as this process has read; nil if that is nothing. It does not look
    /// at what others have appended.
    package func knownContent(_ name: EntryName) throws(LogError) -> Entry.Content? {
        try view.withLock { (view) throws(LogError) in try view.find(name)?.present(at: Clock.milliseconds) }
    }

    package func open(_ name: String) throws(LogError) -> SecretBytes? {
        guard let opened = try openTagged(name) else { return nil }
        return opened.takeBytes()
    }

    package func openTagged(_ name: String) throws(LogError) -> OpenedValue? {
        try certain { () throws(LogError) in
            let found = try withValue(name) { (view, version) throws(LogError) in try view.sealed(version) }
            guard let found else { return nil }
            return try OpenedValue(found)
        }
    }

    /// Opens the present values of names with a prefix, as they were at one time, in the order of the names.
    ///
    /// - Parameter convert: called without any lock held.
    package func openTagged<Result>(
        prefix: [UInt8], _ convert: (EntryName, borrowing OpenedValue) -> Result
    ) throws(LogError) -> [Result] {
        try withSnapshot { (snapshot) throws(LogError) in
            var results: [Result] = []
            var listing = EntryListing(merge: try snapshot.entries(from: prefix), prefix: prefix)
            while let entry = try listing.next() {
                guard let version = entry.content?.current else { continue }
                results.append(convert(entry.name, try OpenedValue(snapshot.sealed(version))))
            }
            return results
        }
    }

    package func listing(prefix: [UInt8] = []) throws(LogError) -> EntryListing {
        let view = try read(isSure: true) { (view) throws(LogError) in view }
        return EntryListing(merge: try view.entries(from: prefix), prefix: prefix)
    }

    package func names(prefix: [UInt8] = []) throws(LogError) -> NameListing {
        let view = try read(isSure: true) { (view) throws(LogError) in view }
        return NameListing(merge: try view.items(from: prefix), prefix: prefix)
    }

    /// Opens a value that is not yet written.
    package func open(_ value: SealedValue) throws(LogError) -> SecretBytes { try value.opened() }

    @inline(__always)
    func withValue<Result: Sendable>(
        _ name: String, _ body: (inout LogView, StoredVersion) throws(LogError) -> Result
    ) throws(LogError) -> Result? {
        // `withUTF8` forgets the type of the error that its closure throws.
        try name.utf8.span.bytes.withUnsafeBytes { (name) throws(LogError) in
            try read { (view) throws(LogError) in
                guard let version = try view.findVersion(name) else { return nil }
                return try body(&view, version)
            }
        }
    }
}
