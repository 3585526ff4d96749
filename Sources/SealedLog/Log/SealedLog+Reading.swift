import LinuxSystem
import Sealing

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
            let read = needsLockToRead ? try readUnderLock(body) : try readFreely(isSure: isSure, body)
            if read.isKnown { return read.result }
            if try confirmNewestRecord() { return read.result }
            try settle()
        }
    }

    private struct Read<Result: Sendable>: Sendable {
        let result: Result
        /// Whether the newest record was written or confirmed by this process.
        let isKnown: Bool
    }

    /// Reads without a lock.
    @inline(__always)
    private func readFreely<Result: Sendable>(
        isSure: Bool, _ body: (inout LogView) throws(LogError) -> Result
    ) throws(LogError) -> Read<Result> {
        let fresh: Read<Result>? = try certain { () throws(LogError) in
            try view.withLock { (view) throws(LogError) in
                guard try refresh(&view), try isSure ? view.headIsThere() : true else { return nil }
                return Read(result: try body(&view), isKnown: view.isKnown)
            }
        }
        if let fresh { return fresh }
        try settle()
        return try view.withLock { (view) throws(LogError) in
            Read(result: try body(&view), isKnown: view.isKnown)
        }
    }

    /// Reads under the lock, as a file system requires that does not show others' writes without it.
    private func readUnderLock<Result: Sendable>(
        _ body: (inout LogView) throws(LogError) -> Result
    ) throws(LogError) -> Read<Result> {
        try writer.withLock { (_) throws(LogError) in
            let deadline = Deadline(after: lockTimeout)
            // A child shares its parent's lock, and would release it.
            if view.withLock({ $0.store.isInherited }) { try replaceView(until: deadline) }
            let lock = try view.withLock { $0.store }.lock(.shared, until: deadline)
            let isFresh = try view.withLock { (view) throws(LogError) in try refresh(&view) }
            lock.release()
            if !isFresh { try replaceView(until: deadline) }
            return try view.withLock { (view) throws(LogError) in
                Read(result: try body(&view), isKnown: view.isKnown)
            }
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
        let seen: LogPosition?
        do throws(LogError) { seen = try isDue ? remembered()?.position(of: view) : nil } catch { return false }
        if try view.alarm(against: seen) == nil { return true }
        // Others may have written since.
        return try view.refresh() ? view.alarm(against: seen) == nil : false
    }

    /// Flushes the newest record and remembers it, before its contents are returned: a machine that only reads has to
    /// notice, too, if just this one change is rolled back.
    ///
    /// - Returns: false if the record is gone: its writer has taken it back, or the file was replaced.
    private func confirmNewestRecord() throws(LogError) -> Bool {
        guard let memory else { return true }
        let view = view.withLock { $0 }
        guard !view.isKnown else { return true }
        if view.store.isTransactional || view.store.isProvisional {
            if !view.store.isProvisional { memory.remember(view.head) }
        } else if memory.seen()?.position != view.head {
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
