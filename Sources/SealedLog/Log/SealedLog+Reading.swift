import LinuxSystem
import Sealing

// Reading follows the file, runs the body, and confirms the newest record before it returns. Most of it is inlined: the
// closures then need no contexts, which would retain and release everything they use.

extension SealedLog {
    /// Runs `body` on a view that was followed to the end of the file.
    ///
    /// - Parameter isSure: whether to check first that the writer of the newest record has not taken it back, and
    ///   another record of its length has not replaced it. Opening a value would detect that.
    @inline(__always)
    func read<Result: Sendable>(
        isSure: Bool = false, _ body: (inout LogView) throws(LogError) -> Result
    ) throws(LogError) -> Result {
        while true {
            let read = try readOnce(isSure: isSure, body)
            if read.isKnown { return read.result }
            if try confirmNewestRecord() { return read.result }
            try reopen()
        }
    }

    private struct Read<Result: Sendable>: Sendable {
        let result: Result
        /// Whether the newest record was written or confirmed by this process.
        let isKnown: Bool
    }

    @inline(__always)
    private func readOnce<Result: Sendable>(
        isSure: Bool, _ body: (inout LogView) throws(LogError) -> Result
    ) throws(LogError) -> Read<Result> {
        let fresh: Read<Result>? = try certain { () throws(LogError) in
            try view.withLock { (view) throws(LogError) in
                guard try refresh(&view), try isSure ? view.headIsThere() : true else { return nil }
                return Read(result: try body(&view), isKnown: view.isKnown)
            }
        }
        if let fresh { return fresh }
        try reopen()
        return try view.withLock { (view) throws(LogError) in Read(result: try body(&view), isKnown: view.isKnown) }
    }

    /// Runs `read`, and again on the reopened file if something is damaged. A record that this log has followed and
    /// that its writer then took back causes the same error.
    @inline(__always)
    func certain<Result: ~Copyable>(_ read: () throws(LogError) -> Result) throws(LogError) -> Result {
        do { return try read() } catch {
            guard error.code == .damaged else { throw error }
        }
        try reopen()
        do { return try read() } catch { throw view.withLock { $0.store }.machineCopy?.explanation(of: error) ?? error }
    }

    /// Runs `body` on a snapshot of the log, without any lock, and retries as ``certain(_:)`` does. The file of a
    /// snapshot keeps its contents, whatever happens to the log.
    func withSnapshot<Result: ~Copyable>(
        isSure: Bool = false, _ body: (inout LogView) throws(LogError) -> Result
    ) throws(LogError) -> Result {
        try certain { () throws(LogError) in
            var view = try read(isSure: isSure) { (view) throws(LogError) in view }
            return try body(&view)
        }
    }

    /// Follows the appended records. Returns false if something is doubtful, if the file was replaced, or if it lacks
    /// positions that were seen.
    @inline(__always)
    private func refresh(_ view: inout LogView) throws(LogError) -> Bool {
        guard try view.refresh() else { return false }
        // A compaction announces its replacement. A file that was put there by other means is detected by checking the
        // path from time to time: the coarse clock takes 5 ns, a check a microsecond.
        let now = Clock.coarse
        let isDue = now >= view.lookedAtPath + 50_000_000
        guard isDue || view.isCompactionAnnounced else { return true }
        guard try check(&view, isDue) else { return false }
        if isDue { view.lookedAtPath = now }
        return true
    }

    /// Returns whether the view's file is still the vault, and, if a check is due, whether it includes the remembered
    /// position. A backup that is copied over the file keeps the file's identity, and may end where this view does.
    @inline(never)
    private func check(_ view: inout LogView, _ isDue: Bool) throws(LogError) -> Bool {
        guard try view.headIsThere(), try view.store.isCurrent() else { return false }
        let seen: LogPosition?
        do throws(LogError) { seen = try isDue ? remembered()?.position(of: view) : nil } catch { return false }
        if try view.alarm(against: seen) == nil { return true }
        // Other processes may have written since.
        return try view.refresh() ? view.alarm(against: seen) == nil : false
    }

    /// Makes the newest record durable and remembers it before its contents are returned. Otherwise, a machine that
    /// only reads would not notice a rollback of this last change.
    ///
    /// - Returns: false if the record is gone, because its writer has taken it back or the file was replaced.
    /// - Throws: `busy` while a writer holds the lock, which may still take the record back; `unavailable` if a flush
    ///   fails.
    private func confirmNewestRecord() throws(LogError) -> Bool {
        let view = view.withLock { $0 }
        guard !view.isKnown else { return true }
        // Changes that wait to be merged are not remembered as the vault's.
        let memory = view.store.target == nil ? memory : nil
        if let memory, memory.seen()?.position == view.head {
            // The location may be new to this machine.
            if !memory.knowsPath {
                guard let store = try view.store.forReader() else { return false }
                try flush(view, of: store, in: memory)
            }
        } else if view.durable == view.head {
            // A durable record is not taken back.
            if let memory {
                guard let store = try view.store.forReader() else { return false }
                try flush(view, of: store, in: memory)
                memory.remember(view.head, isFlushedByWriter: view.head != view.origin)
            }
        } else {
            guard try confirm(view, in: memory) else { return false }
        }
        self.view.withLock { current in
            if current.head == view.head {
                current.confirmed = view.head
                current.isLocationKnown = true
            }
        }
        return true
    }

    private func confirm(_ view: LogView, in memory: RollbackMemory?) throws(LogError) -> Bool {
        guard let store = try view.store.forReader() else { return false }
        let deadline = Deadline(after: lockTimeout)
        var following = view
        while true {
            do throws(LogError) {
                let patience = min(deadline, Deadline(after: .milliseconds(2)))
                guard let lock = try store.lock(.shared, until: patience), try view.newestRecordIsWhole() else {
                    return false
                }
                if let memory, memory.seen()?.position != view.head {
                    try flush(view, of: store, in: memory)
                    memory.remember(view.head, isFlushedByWriter: false)
                }
                lock.release()
                return true
            } catch {
                guard error.code == .busy, !deadline.hasPassed else { throw error }
            }
            // It is not necessary to wait for a writer that does not pause. A writer has flushed each position that it
            // remembers, and each record before it appends the next one.
            if let memory, memory.seen()?.position == view.head { return true }
            guard (try? following.refresh()) == true else { return false }
            if following.head != view.head {
                memory?.remember(view.head, isFlushedByWriter: false)
                return true
            }
        }
    }

    /// Flushes the file of a view and its name, and remembers the name.
    ///
    /// - Parameter store: a store with a descriptor that the log's writer does not use.
    func flush(_ view: LogView, of store: any RecordStore, in memory: RollbackMemory) throws(LogError) {
        do throws(LogError) {
            try store.synchronize()
            _ = try flushName(of: store, view.file, unless: memory.pathRecord()?.durable)
        } catch {
            guard error.isUnflushable else { throw error }
            memory.rememberPath(durable: nil)
        }
    }
}

/// A value, together with the data that decides whether it may be returned, all as of one moment.
package struct GuardedValue: ~Copyable {
    package let value: OpenedValue
    package let attributes: [Attribute]
    /// The attributes of the login entry, even if it has expired; none if it was removed.
    package let loginAttributes: [Attribute]
    package let isLoginPresent: Bool
    package let isAccessLogged: Bool

    package consuming func takeValue() -> OpenedValue { value }
}

extension SealedLog {
    /// Opens the value of a name and reads the data that decides whether it may be returned; nil if the name is absent.
    package func openGuarded(_ name: EntryName, of login: EntryName?) throws(LogError) -> GuardedValue? {
        try certain { () throws(LogError) in
            let found = try read { (view) throws(LogError) -> GuardedBox? in try GuardedBox(name, login, in: &view) }
            guard let found else { return nil }
            return GuardedValue(
                value: try OpenedValue(found.value), attributes: found.attributes,
                loginAttributes: found.loginAttributes, isLoginPresent: found.isLoginPresent,
                isAccessLogged: found.isAccessLogged)
        }
    }
}

private struct GuardedBox: Sendable {
    let value: SealedValue
    let attributes: [Attribute]
    let loginAttributes: [Attribute]
    let isLoginPresent: Bool
    let isAccessLogged: Bool

    init?(_ name: EntryName, _ login: EntryName?, in view: inout LogView) throws(LogError) {
        let now = Clock.milliseconds
        guard let content = try view.find(name)?.present(at: now) else { return nil }
        value = try view.sealed(content.current)
        attributes = content.attributes
        let login = if let login { try view.find(login) } else { Entry?.none }
        loginAttributes = login?.content?.attributes ?? []
        isLoginPresent = login?.isPresent(at: now) ?? false
        isAccessLogged = view.header.isAccessLogged
    }
}
