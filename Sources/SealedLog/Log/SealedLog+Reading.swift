import LinuxSystem
import Sealing

// A read updates the view to the end of the file, runs a closure on it, and confirms the newest record. Most of this
// code is inlined, because each read would otherwise retain and release everything that its closures capture.

extension SealedLog {
    /// Runs `body` on a view that is first updated to the end of the file.
    ///
    /// - Parameter isSure: whether to check first that the newest record still exists. Its writer may have replaced it
    ///   with another of the same length. A `body` that opens a value needs no check: opening a replaced value fails.
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
        /// Whether this process has written the newest record or has confirmed that the record is durable.
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

    /// Runs `read`. If it throws `damaged`, reopens the file and calls `read` again, because this log may have read a
    /// record that its writer then took back.
    @inline(__always)
    func certain<Result: ~Copyable>(_ read: () throws(LogError) -> Result) throws(LogError) -> Result {
        do { return try read() } catch {
            guard error.code == .damaged else { throw error }
        }
        try reopen()
        do { return try read() } catch { throw view.withLock { $0.store }.machineCopy?.explanation(of: error) ?? error }
    }

    /// Runs `body` on a snapshot of the log, without any lock, and retries as ``certain(_:)`` does. The snapshot's file
    /// keeps its contents even if the log is changed or replaced.
    func withSnapshot<Result: ~Copyable>(
        isSure: Bool = false, _ body: (inout LogView) throws(LogError) -> Result
    ) throws(LogError) -> Result {
        try certain { () throws(LogError) in
            var view = try read(isSure: isSure) { (view) throws(LogError) in view }
            return try body(&view)
        }
    }

    /// Updates the view with the appended records. Returns false if the file must be opened again under its lock,
    /// because its end is inconsistent, because it was replaced, or because it lacks the remembered position.
    @inline(__always)
    private func refresh(_ view: inout LogView) throws(LogError) -> Bool {
        guard try view.refresh() else { return false }
        // A compaction announces that it will replace the file. To detect other replacements, the path is checked. This
        // takes a microsecond, so it is done only at intervals, measured by the coarse clock (5 ns per read).
        let now = Clock.coarse
        let isDue = now >= view.lookedAtPath + 50_000_000
        guard isDue || view.isCompactionAnnounced else { return true }
        guard try check(&view, isDue) else { return false }
        if isDue { view.lookedAtPath = now }
        return true
    }

    /// Returns whether the view's file is still at its path. If `isDue`, also checks that the file still includes the
    /// remembered position. This detects a backup that was copied over the file: copying does not change the file's
    /// identity, and the backup may end at the same offset as this view.
    @inline(never)
    private func check(_ view: inout LogView, _ isDue: Bool) throws(LogError) -> Bool {
        guard try view.headIsThere(), try view.store.isCurrent() else { return false }
        let seen: LogPosition?
        do throws(LogError) { seen = try isDue ? remembered()?.position(of: view) : nil } catch { return false }
        if try view.alarm(against: seen) == nil { return true }
        // The remembered position may be newer than the view, so the view is updated to the file's end first.
        return try view.refresh() ? view.alarm(against: seen) == nil : false
    }

    /// Makes the newest record durable and remembers its position before its contents are returned. Otherwise, a
    /// machine that only reads would not notice a rollback of the newest change.
    ///
    /// - Returns: false if the record no longer exists, because its writer took it back or the file was replaced.
    /// - Throws: `busy` while a writer has the lock and may take the record back; `unavailable` if a flush fails.
    private func confirmNewestRecord() throws(LogError) -> Bool {
        let view = view.withLock { $0 }
        guard !view.isKnown else { return true }
        // Log positions in a store of pending changes are not positions of the vault, so they are not remembered.
        let memory = view.store.target == nil ? memory : nil
        if let memory, memory.seen()?.position == view.head {
            // If the rollback memory does not contain the vault's path yet, `flush` adds it.
            if !memory.knowsPath {
                guard let store = try view.store.forReader() else { return false }
                try flush(view, of: store, in: memory)
            }
        } else if view.durable == view.head {
            // A writer never takes back a durable record, so its position can be remembered without the vault's lock.
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
            // A writer that appends continuously may hold the lock indefinitely. Waiting is unnecessary if the memory
            // has this position or another record follows, because a writer flushes a record before either happens.
            if let memory, memory.seen()?.position == view.head { return true }
            guard (try? following.refresh()) == true else { return false }
            if following.head != view.head {
                memory?.remember(view.head, isFlushedByWriter: false)
                return true
            }
        }
    }

    /// Flushes a view's file and its directory entry, and remembers that the directory entry is durable.
    ///
    /// - Parameter store: a store whose descriptor the log's writer does not use.
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

/// A value, the attributes that may forbid returning it, and whether the access log is on, from one state of the vault.
package struct GuardedValue: ~Copyable {
    package let value: OpenedValue
    package let attributes: [Attribute]
    /// The attributes of the login entry, even if that entry has expired; empty if it has been removed.
    package let loginAttributes: [Attribute]
    package let isLoginPresent: Bool
    package let isAccessLogged: Bool

    package consuming func takeValue() -> OpenedValue { value }
}

extension SealedLog {
    /// Opens a name's value, and reads the other parts of the ``GuardedValue``. Returns nil if the name is absent.
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
