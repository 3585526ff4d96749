import LinuxSystem
import Sealing

// What one reading does: follow the file, look at it, and confirm what it returns.
//
// Most of it is inlined: the closures then need no contexts, which would retain and release all that they use.

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
            let (result, isKnown) =
                needsLockToRead ? try readUnderLock(body) : try readFreely(isSure: isSure, body)
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
                guard try refresh(&view) else { return nil }
                if isSure {
                    guard try view.headIsThere() else { return nil }
                }
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

    // MARK: The file

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
        guard try view.isInPlace() else { return false }
        if isDue {
            guard try holdsWhatWasSeen(&view) else { return false }
        }
        view.lookedAtPath = lookedAtPath
        return true
    }

    private func holdsWhatWasSeen(_ view: inout LogView) throws(LogError) -> Bool {
        let seen = seen()
        if try view.agrees(with: seen) { return true }
        // Others may have written since.
        guard case .clean = try view.catchUp() else { return false }
        return try view.agrees(with: seen)
    }

    /// Makes the next reading look whether the path leads to another file.
    package func lookAtPath() {
        view.withLock { $0.lookedAtPath = 0 }
    }

    // MARK: Confirming

    /// How long a reader waits for a writer that may be about to flush, or to take back, what was read.
    private static let patience: Duration = .milliseconds(200)

    /// Flushes the newest record and remembers it, before its contents are returned: a machine that only reads has to
    /// notice, too, if just this one change is rolled back.
    ///
    /// - Returns: false if the record is gone: its writer has taken it back, or the file was replaced.
    /// - Throws: what opening the file again may bring.
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
            let lock = try? store.lock(.shared, until: Deadline(after: SealedLog.patience))
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
        } catch { return }
        memory.remember(view.head, isFlushedByWriter: false)
    }
}
