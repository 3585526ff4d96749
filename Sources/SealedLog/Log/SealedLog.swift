import LinuxSystem
package import Sealing

/// One vault file, for all of a process: the same file opened twice is one log.
///
/// Reads follow the file without a lock. Writes of several threads are gathered: the first to get the writer's lock
/// writes one record for all that wait.
package final class SealedLog: Sendable {
    let keys: KeyRing
    let vaultID: [UInt8]
    let memory: RollbackMemory?
    let notices: NoticeBoard
    let needsLockToRead: Bool
    /// How long readers that need the lock wait for it.
    let lockTimeout: Duration
    /// Whether this opening has accepted the file in spite of an alarm.
    let isAccepted: Bool
    /// What the memory held when the user accepted the file in spite of it: the memory may be read-only.
    let overruled: Mutex<LogPosition?>
    let view: Mutex<LogView>
    let writer: Mutex<Writer>
    let queue = Mutex<[PendingCommit]>([])
    let scratch = Mutex<[Scratch]>([])

    /// - Parameter view: was followed to its end and compared with what this machine remembers.
    init(
        _ view: LogView, _ memory: RollbackMemory?, _ notices: NoticeBoard, lockTimeout: Duration,
        isAccepted: Bool = false, overruled: LogPosition? = nil, rememberedFingerprint fingerprint: Authenticator? = nil
    ) {
        keys = view.keys
        vaultID = view.header.vaultID
        self.memory = memory
        self.notices = notices
        needsLockToRead = view.store.needsLockToRead
        self.lockTimeout = lockTimeout
        self.isAccepted = isAccepted
        self.overruled = Mutex(overruled)
        self.view = Mutex(view)
        writer = Mutex(Writer(rememberedFingerprint: fingerprint))
    }

    /// Returns the notices since the last time.
    package func takeNotices() -> [Notice] { notices.take() }
}

/// An opened value, with what its entry says of it.
package struct OpenedValue: ~Copyable {
    package let kind: UInt8
    /// Unique to each value.
    package let nonce: Nonce
    package let bytes: SecretBytes

    fileprivate init(_ version: StoredVersion, _ box: [UInt8], _ keys: KeyRing) throws(LogError) {
        (kind, nonce) = (version.kind, version.nonce)
        bytes = try keys.open(box, version)
    }
}

extension SealedLog {
    // All of these throw `damaged`, `busy`, `unavailable`, and what a replaced file may bring. Those that open values
    // throw `outOfMemory` too.

    /// Returns the entry of a name; nil if it is absent.
    package func entry(_ name: EntryName) throws(LogError) -> Entry? {
        let entry = try read(isSure: true) { (view) throws(LogError) in try view.find(name) }
        return entry?.content == nil ? nil : entry
    }

    /// Opens the value of a name into guarded memory; nil if it is absent.
    package func open(_ name: String) throws(LogError) -> SecretBytes? {
        guard let opened = try openTagged(name) else { return nil }
        return opened.bytes
    }

    /// Opens the value of a name, with what its entry says of it; nil if it is absent.
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
    package func listing(prefix: [UInt8] = []) throws(LogError) -> EntryListing {
        let view = try read(isSure: true) { (view) throws(LogError) in view }
        return EntryListing(try view.entries(from: prefix), prefix: prefix)
    }

    /// Opens a value that is not yet written.
    package func open(_ value: SealedValue) throws(LogError) -> SecretBytes { try keys.open(value.box, value.version) }

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
        let isDue = view.isDueForLookAtPath()
        guard isDue || view.isCompactionAnnounced else { return true }
        return try look(at: &view, isDue)
    }

    /// Returns whether the view's file is still the vault, and, if that is due, whether it is as new as it was seen to
    /// be: a backup that is copied over it keeps the file's identity, and may end where this view does.
    @inline(never)
    private func look(at view: inout LogView, _ isDue: Bool) throws(LogError) -> Bool {
        // If the look fails, the next reading looks again.
        let lookedAtPath = view.lookedAtPath
        view.lookedAtPath = 0
        guard try view.headIsThere(), try view.store.isCurrent(), try isDue ? holdsWhatWasSeen(&view) : true else {
            return false
        }
        view.lookedAtPath = lookedAtPath
        return true
    }

    private func holdsWhatWasSeen(_ view: inout LogView) throws(LogError) -> Bool {
        let seen = seen()
        if try view.agrees(with: seen) { return true }
        // Others may have written since.
        return try view.catchUp() ? view.agrees(with: seen) : false
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
            // came before.
            let lock = try? store.lock(.shared, until: Deadline(after: .milliseconds(200)))
            guard try view.headIsThere() else { return false }
            // The writer itself may have remembered it by now.
            if memory.seen()?.position != view.head { confirm(view, through: store, memory) }
            lock?.release()
        }
        self.view.withLock { current in
            if current.head == view.head { current.confirmed = view.head }
        }
        return true
    }

    /// Flushes and remembers the newest record. If the flush fails it is not remembered: a power loss would then look
    /// like a rollback.
    private func confirm(_ view: LogView, through store: any RecordStore, _ memory: RollbackMemory) {
        do throws(LogError) {
            try store.synchronize()
            _ = try flushName(of: store, view.file, unless: memory.pathRecord()?.durable)
            memory.remember(view.head, isFlushedByWriter: false)
        } catch {}
    }
}

extension KeyRing {
    /// Opens a value's box into guarded memory.
    func open(_ box: [UInt8], _ version: StoredVersion) throws(LogError) -> SecretBytes {
        var value = try SecretBytes.guarded(version.length)
        try box.withRawBytes { (box) throws(LogError) in try open(box, version, into: &value) }
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

extension SecretBytes {
    /// Allocates zero bytes.
    static func guarded(_ count: Int) throws(LogError) -> SecretBytes {
        do { return try SecretBytes(zeroCount: count) } catch { throw LogError(error) }
    }
}
