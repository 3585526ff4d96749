import LinuxSystem
package import Sealing

/// One vault file, for all of a process: the same file opened twice is one log.
///
/// Reads follow the file without a lock. Writes of several threads are gathered: the first to get the writer's lock
/// writes one record for all that wait.
package final class SealedLog: Sendable {
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
    /// The largest number of opened pages that are kept.
    private let pageLimit: Int
    /// Whether this opening has accepted the file in spite of an alarm.
    let isAccepted: Bool
    /// What the memory held then: it may be read-only.
    let overruled: Mutex<LogPosition?>
    let view: Mutex<LogView>
    let writer: Mutex<Writer>
    let queue = CommitQueue()
    let upkeep: Upkeep

    /// - Parameter view: was followed to its end and compared with what this machine remembers.
    init(
        _ view: LogView, _ memory: RollbackMemory?, _ options: Options, isAccepted: Bool = false,
        overruled: LogPosition? = nil, rememberedFingerprint fingerprint: Authenticator? = nil
    ) {
        keys = view.keys
        vaultID = view.header.vaultID
        self.memory = memory
        notices = memory?.notices ?? NoticeBoard()
        needsLockToRead = view.store.needsLockToRead
        lockTimeout = options.lockTimeout
        upkeep = Upkeep(isAutomatic: options.compactsByItself)
        self.isAccepted = isAccepted
        self.overruled = Mutex(overruled)
        pageLimit = options.indexMemory / Limits.pageSize
        var view = view
        view.cache.limit = pageLimit
        self.view = Mutex(view)
        writer = Mutex(Writer(rememberedFingerprint: fingerprint))
    }

    /// Reads from another file from now on.
    func read(from new: LogView) {
        view.withLock { view in
            view = new
            view.cache.limit = pageLimit
        }
    }

    package func takeNotices() -> [Notice] { notices.take() }
}

/// An opened value, with what its entry says of it.
package struct OpenedValue: ~Copyable {
    package let kind: UInt8
    /// Unique to each value.
    package let nonce: Nonce
    package let bytes: SecretBytes

    package consuming func takeBytes() -> SecretBytes { bytes }

    fileprivate init(_ sealed: SealedValue, _ keys: KeyRing) throws(LogError) {
        (kind, nonce) = (sealed.version.kind, sealed.version.nonce)
        bytes = try keys.open(sealed)
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

    package func open(_ name: String) throws(LogError) -> SecretBytes? {
        guard let opened = try openTagged(name) else { return nil }
        return opened.takeBytes()
    }

    package func openTagged(_ name: String) throws(LogError) -> OpenedValue? {
        try certain { () throws(LogError) in
            let found = try withValue(name) { (view, version) throws(LogError) in try view.sealed(version) }
            guard let found else { return nil }
            return try OpenedValue(found, keys)
        }
    }

    /// Opens the present values of names with a prefix, as they were at one time, in the order of the names.
    ///
    /// - Parameter convert: called without any lock held.
    package func openTagged<Result>(
        prefix: [UInt8], _ convert: (EntryName, borrowing OpenedValue) -> Result
    ) throws(LogError) -> [Result] {
        try certain { () throws(LogError) in
            // A view's file keeps what the view shows, whatever becomes of the log.
            var snapshot = try read { (view) throws(LogError) in view }
            var results: [Result] = []
            var listing = EntryListing(merge: try snapshot.entries(from: prefix), prefix: prefix)
            while let entry = try listing.next() {
                guard let version = entry.content?.current else { continue }
                results.append(convert(entry.name, try OpenedValue(snapshot.sealed(version), keys)))
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
    package func open(_ value: SealedValue) throws(LogError) -> SecretBytes { try keys.open(value) }

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

// MARK: - One reading

// It follows the file, looks at it, and confirms what it returns. Most of it is inlined: the closures then need no
// contexts, which would retain and release all that they use.

extension SealedLog {
    /// Runs `body` on a view that was followed to the end of the file.
    ///
    /// - Parameter isSure: whether to check first that the newest record was not taken back by its writer, with another
    ///   one of its length in its place. If a value is opened, that shows by itself.
    @inline(__always)
    func read<Result: Sendable>(
        isSure: Bool = false, _ body: (inout LogView) throws(LogError) -> Result
    ) throws(LogError) -> Result {
        while true {
            let (result, isKnown) = needsLockToRead ? try readUnderLock(body) : try readFreely(isSure: isSure, body)
            if isKnown { return result }
            if try confirmNewestRecord() { return result }
            try settle()
        }
    }

    /// Reads without a lock. The result says whether the newest record was written or confirmed by this process.
    @inline(__always)
    private func readFreely<Result: Sendable>(
        isSure: Bool, _ body: (inout LogView) throws(LogError) -> Result
    ) throws(LogError) -> (Result, isKnown: Bool) {
        let fresh: (Result, isKnown: Bool)? = try certain { () throws(LogError) in
            try view.withLock { (view) throws(LogError) in
                guard try refresh(&view), try isSure ? view.headIsThere() : true else { return nil }
                return (try body(&view), isKnown: view.isKnown)
            }
        }
        if let fresh { return fresh }
        try settle()
        return try view.withLock { (view) throws(LogError) in (try body(&view), isKnown: view.isKnown) }
    }

    /// Reads under the lock, as a file system requires that does not show others' writes without it.
    private func readUnderLock<Result: Sendable>(
        _ body: (inout LogView) throws(LogError) -> Result
    ) throws(LogError) -> (Result, isKnown: Bool) {
        try writer.withLock { (_) throws(LogError) in
            let deadline = Deadline(after: lockTimeout)
            // A child shares its parent's lock, and would release it.
            if view.withLock({ $0.store.isInherited }) { try replaceView(until: deadline) }
            let lock = try view.withLock { $0.store }.lock(.shared, until: deadline)
            let isFresh = try view.withLock { (view) throws(LogError) in try refresh(&view) }
            lock.release()
            if !isFresh { try replaceView(until: deadline) }
            return try view.withLock { (view) throws(LogError) in (try body(&view), isKnown: view.isKnown) }
        }
    }

    /// Reads, and once more from the file opened again if something is damaged: a record that this log has seen, and
    /// that its writer then took back, looks just so.
    @inline(__always)
    func certain<Result: ~Copyable>(_ read: () throws(LogError) -> Result) throws(LogError) -> Result {
        do { return try read() } catch {
            guard error.code == .damaged else { throw error }
        }
        try settle()
        return try read()
    }

    /// Follows what was appended to the file; false if something is doubtful, if the file was replaced, or if it lacks
    /// what was seen of it.
    @inline(__always)
    private func refresh(_ view: inout LogView) throws(LogError) -> Bool {
        guard try view.refresh() else { return false }
        // A compaction announces itself. From time to time the path is looked at, for a file that was put there by
        // other means: the coarse clock costs 5 ns, a look a microsecond.
        let now = Clock.coarse
        let isDue = now >= view.lookedAtPath + 50_000_000
        guard isDue || view.isCompactionAnnounced else { return true }
        guard try look(at: &view, isDue) else { return false }
        if isDue { view.lookedAtPath = now }
        return true
    }

    /// Returns whether the view's file is still the vault, and, if that is due, whether it is as new as it was seen to
    /// be: a backup that is copied over it keeps the file's identity, and may end where this view does.
    @inline(never)
    private func look(at view: inout LogView, _ isDue: Bool) throws(LogError) -> Bool {
        guard try view.headIsThere(), try view.store.isCurrent() else { return false }
        let seen = isDue ? seen() : nil
        if try view.alarm(against: seen) == nil { return true }
        // Others may have written since.
        return try view.catchUp() ? view.alarm(against: seen) == nil : false
    }

    /// Flushes the newest record and remembers it, before its contents are returned: a machine that only reads has to
    /// notice, too, if just this one change is rolled back.
    ///
    /// - Returns: false if the record is gone: its writer has taken it back, or the file was replaced.
    private func confirmNewestRecord() throws(LogError) -> Bool {
        guard let memory else { return true }
        let view = view.withLock { $0 }
        guard !view.isKnown else { return true }
        if memory.seen()?.position != view.head {
            // A descriptor of its own: the lock of the view's belongs to this process's writer.
            let store = try view.store.reopened()
            guard store.identity == view.store.identity else { return false }
            // If the lock is not free in time, go on without it: a writer that holds it for so long has flushed what
            // came before. Where the lock alone shows what others have written, wait for it.
            let timeout = needsLockToRead ? lockTimeout : .milliseconds(200)
            let lock: StoreLock?
            do throws(LogError) { lock = try store.lock(.shared, until: Deadline(after: timeout)) } catch {
                guard !needsLockToRead else { throw error }
                lock = nil
            }
            let isLocked = lock != nil
            guard try view.headIsThere() else { return false }
            // The writer itself may have remembered it by now. If the flush fails, it is not remembered: a power loss
            // would then look like a rollback.
            if memory.seen()?.position != view.head {
                do throws(LogError) {
                    try store.synchronize()
                    _ = try flushName(of: store, view.file, unless: memory.pathRecord()?.durable)
                    memory.remember(view.head, isFlushedByWriter: false)
                } catch {}
                // Without the lock, the writer's own flush may have failed meanwhile. A writer that takes its record
                // back looks here afterwards, so one of the two sees what the other has done.
                if !isLocked, try !view.headIsThere() {
                    memory.forget(view.head, for: view.durable)
                    return false
                }
            }
            lock?.release()
        }
        self.view.withLock { current in
            if current.head == view.head { current.confirmed = view.head }
        }
        return true
    }
}

extension KeyRing {
    func open(_ sealed: SealedValue) throws(LogError) -> SecretBytes {
        var value = try translated(SecretBytes(zeros: sealed.version.length))
        try sealed.box.withRawBytes { (box) throws(LogError) in try open(box, sealed.version, into: &value) }
        return value
    }

    /// Opens a value's box into guarded memory that has room for it, and passes it to `body` with its padding.
    @inline(__always)
    func open(
        _ box: UnsafeRawBufferPointer, _ version: StoredVersion, into memory: inout SecretBytes,
        _ body: (UnsafeRawBufferPointer) throws(SealingError) -> Void = { _ in }
    ) throws(LogError) {
        do throws(SealingError) {
            try memory.withUnsafeMutablePaddedBytes { (memory) throws(SealingError) in
                let value = UnsafeMutableRawBufferPointer(rebasing: memory[..<(version.boxLength - SecretBox.tagSize)])
                try open(box, for: .value, nonce: version.nonce, into: value)
                try body(UnsafeRawBufferPointer(value))
            }
        } catch { throw error.code == .forged ? LogError.damaged("a value", at: version.offset) : LogError(error) }
    }
}
