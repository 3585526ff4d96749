import LinuxSystem
package import Sealing

/// One vault file, for all of a process: the same file opened twice is one log.
///
/// Reads follow the file without a lock. Writes of several threads are gathered: the first to get the writer's lock
/// writes one record for all that wait.
package final class SealedLog: Sendable {
    /// How to open a log.
    package struct Options: Sendable {
        /// How long to wait for other processes.
        package var lockTimeout: Duration
        /// Alarms of the rollback memory that the user has accepted: `rolledBack`, `diverged`, `exchanged`.
        package var accepted: [LogError.Code]
        /// The folder of the rollback memory; nil for none.
        package var memoryFolder: String?

        package init(
            lockTimeout: Duration = .seconds(10), accepted: [LogError.Code] = [], memoryFolder: String? = nil
        ) {
            self.lockTimeout = lockTimeout
            self.accepted = accepted
            self.memoryFolder = memoryFolder
        }
    }

    /// State that belongs to the thread that writes.
    struct Writer: Sendable {
        /// Whether the outcome of a write is unknown: nothing more is written.
        var isPoisoned = false
        /// The file whose name this log has flushed, or knows to be flushed.
        var durableFile: CheckpointFile?
        /// The fingerprint of the file whose name the memory knows to be durable.
        var rememberedFingerprint: Authenticator?
        /// Whether this log has looked for what a killed compaction may have left.
        var hasTidied = false
        /// After a failed compaction: the sequence number before which there is no other try.
        var compactAfter: UInt64 = 0
    }

    let keys: KeyRing
    let vaultID: [UInt8]
    let memory: RollbackMemory?
    let notices: NoticeBoard
    let needsLockToRead: Bool
    /// How long readers that need the lock wait for it.
    let lockTimeout: Duration
    /// What the memory held when the user accepted the file in spite of it: the memory may be read-only.
    let overruled: Mutex<LogPosition?>
    let view: Mutex<LogView>
    let writer: Mutex<Writer>
    let queue = Mutex<[PendingCommit]>([])
    let scratch = Mutex<[Scratch]>([])

    init(_ opened: Opened) {
        keys = opened.view.keys
        vaultID = opened.view.header.vaultID
        memory = opened.memory
        notices = opened.notices
        needsLockToRead = opened.view.store.needsLockToRead
        lockTimeout = opened.lockTimeout
        overruled = Mutex(opened.overruled)
        view = Mutex(opened.view)
        writer = Mutex(Writer(rememberedFingerprint: opened.rememberedFingerprint))
    }

    /// Returns the notices since the last time.
    package func takeNotices() -> [Notice] { notices.take() }

    /// Whether the system let the keys be locked against swapping.
    package var keysAreLockedInMemory: Bool { keys.isLockedInMemory }

    /// The time in milliseconds since 1970.
    static var now: UInt64 { UInt64(max(Clock.realTime, 0)) / 1_000_000 }
}

/// An opened value, with what its entry says of it.
package struct OpenedValue: ~Copyable {
    package let kind: UInt8
    /// Unique to each value.
    package let nonce: Nonce
    package let bytes: SecretBytes

    fileprivate init(_ version: StoredVersion, _ box: [UInt8], _ keys: KeyRing) throws(LogError) {
        kind = version.kind
        nonce = version.nonce
        bytes = try keys.open(box, version)
    }
}

extension SealedLog {
    /// Returns the entry of a name; nil if it is absent.
    ///
    /// - Throws: `damaged`, `busy`, `unavailable`, and what a replaced file may bring.
    package func entry(_ name: EntryName) throws(LogError) -> Entry? {
        let entry = try read(isSure: true) { (view) throws(LogError) in try view.find(name) }
        return entry?.content == nil ? nil : entry
    }

    /// Opens the value of a name into guarded memory; nil if it is absent.
    ///
    /// - Throws: `outOfMemory`; also what ``entry(_:)`` throws.
    package func open(_ name: String) throws(LogError) -> SecretBytes? {
        guard let opened = try openTagged(name) else { return nil }
        return opened.bytes
    }

    /// Opens the value of a name, with what its entry says of it; nil if it is absent.
    ///
    /// - Throws: what ``open(_:)`` throws.
    package func openTagged(_ name: String) throws(LogError) -> OpenedValue? {
        try certain { () throws(LogError) in
            let found = try withValue(name) { (view, version) throws(LogError) in (version, try view.box(of: version)) }
            guard let (version, box) = found else { return nil }
            return try OpenedValue(version, box, keys)
        }
    }

    /// Opens the values of all present names that begin with a prefix, as they were at one time, in the order of their
    /// names.
    ///
    /// - Parameter convert: called without any lock held.
    /// - Throws: what ``open(_:)`` throws.
    package func openTagged<Result>(
        prefix: [UInt8], _ convert: (EntryName, borrowing OpenedValue) -> Result
    ) throws(LogError) -> [Result] {
        try certain { () throws(LogError) in
            // A view's file keeps what the view shows, whatever becomes of the log.
            var snapshot = try read { (view) throws(LogError) in view }
            var results: [Result] = []
            var listing = EntryListing(try snapshot.entries(from: prefix), prefix: prefix)
            while let entry = try listing.next() {
                guard let version = entry.content?.current else { continue }
                results.append(convert(entry.name, try OpenedValue(version, snapshot.box(of: version), keys)))
            }
            return results
        }
    }

    /// Lists the present entries whose names begin with a prefix, as they are now.
    ///
    /// - Throws: what ``entry(_:)`` throws.
    package func listing(prefix: [UInt8] = []) throws(LogError) -> EntryListing {
        let view = try read(isSure: true) { (view) throws(LogError) in view }
        return EntryListing(try view.entries(from: prefix), prefix: prefix)
    }

    /// Opens a value that is not yet written.
    package func open(_ value: SealedValue) throws(LogError) -> SecretBytes {
        try keys.open(
            value.box, StoredVersion(kind: value.kind, nonce: value.nonce, offset: 0, length: value.length))
    }

    /// Finds the value of a name, and has `body` take it from the view; nil if it is absent.
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

extension KeyRing {
    /// Opens a value's box into guarded memory.
    func open(_ box: [UInt8], _ version: StoredVersion) throws(LogError) -> SecretBytes {
        do throws(SealingError) {
            var value = try SecretBytes(zeroCount: version.length)
            try value.withUnsafeMutablePaddedBytes { (value) throws(SealingError) in
                try box.withRawBytes { (box) throws(SealingError) in
                    try open(box, for: .value, nonce: version.nonce, into: value)
                }
            }
            return value
        } catch { throw LogError(opening: version, error) }
    }
}
