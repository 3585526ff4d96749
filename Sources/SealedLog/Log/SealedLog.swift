private import Glibc
import LinuxSystem
package import Sealing

/// A vault file that a process has opened. If the process opens the same file twice, both callers get the same log.
///
/// Reads follow the file without a lock. Writes by several threads are combined: one thread at a time writes a record
/// with as many of the waiting transactions as fit.
package final class SealedLog: Sendable {
    struct Writer: Sendable {
        /// The file whose directory entry is known to be durable, for example because this log has flushed it.
        var durableFile: CheckpointFile?
        /// The fingerprint of the file whose directory entry is durable, according to the rollback memory.
        var rememberedFingerprint: Authenticator?
        /// The sequence number that the log must reach before a failed compaction is retried.
        var compactAfter: UInt64 = 0
    }

    package let vaultID: [UInt8]
    let memory: RollbackMemory?
    let notices: NoticeBoard
    /// The timeout for a reader that needs the lock, for example to reopen a replaced file.
    let lockTimeout: Duration
    private let processID = getpid()
    /// Whether the file was accepted when it was opened, despite an alarm from the rollback memory.
    let isAccepted: Bool
    /// The contents of the rollback memory that were overruled by accepting this file. A read-only memory keeps them.
    let overruled: Mutex<[UInt8]?>
    let view: OrderedMutex<LogView>
    /// The view's store. It has a separate mutex, so that the registry of logs never waits for a view: a thread that
    /// holds a database vault's view may use the registry to open the vault that contains the database's password.
    let shownStore: Mutex<any RecordStore>
    /// The view's keys. They have a separate mutex, because readers and compactions may hold the view's mutex for long.
    private let keyRing: Mutex<KeyRing>
    let writer: OrderedMutex<Writer>
    /// A closure that creates or reads the key with which this machine signs; nil if it signs nothing.
    let deviceKey: (@Sendable () throws(LogError) -> DeviceKey)?
    let knownDeviceKey = Mutex<DeviceKey?>(nil)
    /// The most recently checked list of members, and the file that contains it.
    let membership = Mutex<Membership?>(nil)
    /// Whether the user has accepted a vault whose history differs from the one that this machine remembers.
    let acceptsOtherHistory: Bool
    let queue = CommitQueue()
    let upkeep: Upkeep
    /// Whether this process holds the lock of the copy that is being merged, and therefore must not wait for that lock.
    let holdsPending = Mutex(false)

    /// - Parameter view: a view that has read all records and been compared with the rollback memory.
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
        shownStore = Mutex(view.store)
        self.view = OrderedMutex(.view, view)
        keyRing = Mutex(view.keys)
        writer = OrderedMutex(.writer, Writer(rememberedFingerprint: fingerprint))
    }

    /// The keys of the vault file that this log currently uses. A rotation of the data key replaces them.
    package var keys: KeyRing { keyRing.withLock { $0 } }

    /// Replaces the view with a view of another file, or with a new view of the same file.
    func show(_ next: LogView) {
        view.withLock { view in
            view.replace(by: next)
            shownStore.withLock { $0 = next.store }
        }
        adopt(next.keys)
    }

    func adopt(_ keys: KeyRing) {
        guard keys !== self.keys else { return }
        keyRing.withLock { $0 = keys }
        memory?.adopt(keys)
    }

    package func takeNotices() -> [Notice] { notices.take() }

    /// Whether this process opened the log itself. A forked child process inherits the log, but none of its threads.
    var isOwn: Bool { processID == getpid() }

    /// Whether changes are stored in a pending copy on this machine until they can be merged.
    package var keepsChangesApart: Bool { view.withLock { $0.store.target != nil } }
}

package struct OpenedValue: ~Copyable {
    package let kind: UInt8
    /// The nonce, which is unique to each value.
    package let nonce: Nonce
    package let bytes: SecretBytes

    package consuming func takeBytes() -> SecretBytes { bytes }

    init(_ sealed: SealedValue) throws(LogError) {
        kind = sealed.version.kind
        nonce = sealed.version.nonce
        bytes = try sealed.opened()
    }
}

extension SealedLog {
    // These methods throw `damaged`, `busy`, `unavailable`, and any error from reopening a replaced file. Methods that
    // open values also throw `outOfMemory`.

    /// Returns the entry of a name; nil if the name is absent or its value has expired.
    package func entry(_ name: EntryName) throws(LogError) -> Entry? {
        let entry = try read(isSure: true) { (view) throws(LogError) in try view.find(name) }
        return entry.flatMap { $0.isPresent(at: Clock.milliseconds) ? $0 : nil }
    }

    /// Returns the contents of a name's entry, as of this process's last read of the log; nil if the name is absent.
    /// Does not read records that other processes have appended since that read.
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

    /// Opens and converts the current values of all names with a prefix, from one snapshot, sorted by name.
    ///
    /// - Parameter convert: converts a value. It is called while no lock is held.
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

    package func open(_ value: SealedValue) throws(LogError) -> SecretBytes { try value.opened() }

    @inline(__always)
    func withValue<Result: Sendable>(
        _ name: String, _ body: (inout LogView, StoredVersion) throws(LogError) -> Result
    ) throws(LogError) -> Result? {
        // `withUTF8` is not used, because it would lose the type of the error that its closure throws.
        try name.utf8.span.bytes.withUnsafeBytes { (name) throws(LogError) in
            try read { (view) throws(LogError) in
                guard let version = try view.findVersion(name) else { return nil }
                return try body(&view, version)
            }
        }
    }
}
