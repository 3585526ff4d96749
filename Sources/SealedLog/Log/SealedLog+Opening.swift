package import LinuxSystem
import Sealing

extension SealedLog {
    /// Opens a vault.
    ///
    /// - Parameters:
    ///   - path: without symbolic links.
    ///   - readKey: reads the key; called once the file is open, so that a missing vault is reported before a missing
    ///     key.
    /// - Throws: `missing`, `keyWrong`, `damaged`, `newerFormat`, `rolledBack`, `diverged`, `exchanged`, `busy`,
    ///   `unavailable`, or what `readKey` throws.
    package static func open(
        _ path: String, options: Options, in fileSystem: any FileSystem, readKey: () throws(LogError) -> KeyFile
    ) throws(LogError) -> SealedLog {
        shared(try Opening(path: path, options: options, fileSystem: fileSystem).opened(readKey))
    }

    // MARK: One log per file

    /// Returns the log of this process for the same file, or a new one: with one core, threads do not wait for each
    /// other's file locks.
    private static func shared(_ opened: Opened) -> SealedLog {
        guard let identity = opened.view.store.identity else { return SealedLog(opened) }
        let (log, isNew) = registry.withLock { logs -> (SealedLog, Bool) in
            logs.removeAll { $0.log == nil }
            for known in logs {
                guard let log = known.log, log.isFor(opened, isSameFile: known.identity == identity) else { continue }
                return (log, false)
            }
            let log = SealedLog(opened)
            logs.append(KnownLog(identity: identity, log: log))
            return (log, true)
        }
        if isNew { return log }
        if opened.isAccepted { log.accept(opened) }
        for notice in opened.notices.take() { log.notices.post(notice) }
        return log
    }

    private func isFor(_ opened: Opened, isSameFile: Bool) -> Bool {
        // A log is not shared between different memory folders: it would update the wrong one. Separate logs exclude
        // each other through the file lock.
        guard vaultID == opened.view.header.vaultID, memory?.folder.path == opened.memory?.folder.path else {
            return false
        }
        let store = view.withLock { $0.store }
        guard !store.isInherited, store.isWritable || !opened.view.store.isWritable else { return false }
        // What the user has accepted holds for every user of this log.
        return isSameFile || (opened.isAccepted && store.location == opened.view.store.location)
    }

    /// Replaces the file of this log by the one that the user has accepted.
    private func accept(_ opened: Opened) {
        writer.withLock { writer in
            writer.durableFile = nil
            writer.rememberedFingerprint = nil
            overruled.withLock { $0 = opened.overruled }
            view.withLock { $0 = opened.view }
        }
        register()
    }

    /// Registers the log under the file that it has moved to.
    func register() {
        guard let identity = view.withLock({ $0.store.identity }) else { return }
        SealedLog.registry.withLock { logs in
            logs.removeAll { $0.log == nil || $0.log === self }
            logs.append(KnownLog(identity: identity, log: self))
        }
    }

    private struct KnownLog: Sendable {
        let identity: FileStatus.Identity
        weak var log: SealedLog?
    }

    private static let registry = Mutex<[KnownLog]>([])

    // MARK: Again

    /// Opens the file again, while no process can write: the path leads to another file, or something is doubtful.
    func settle() throws(LogError) {
        try writer.withLock { (_) throws(LogError) in try replaceView(until: Deadline(after: lockTimeout)) }
    }

    /// Opens the file again. The caller holds the writer's lock.
    func replaceView(until deadline: Deadline) throws(LogError) {
        let current = view.withLock { $0 }
        // Read before the file: what is remembered was durable before, so the file that is read now must contain it.
        let next = try current.reopened(until: deadline, knowing: seen())
        view.withLock { $0 = next }
        register()
    }

    /// Returns what this machine remembers of the vault, unless the user has accepted the file in spite of it.
    func seen() -> LogPosition? {
        guard let seen = memory?.seen()?.position, seen != overruled.withLock({ $0 }) else { return nil }
        return seen
    }
}

/// A view that was followed to its end and compared with what this machine remembers.
struct Opened: Sendable {
    let view: LogView
    let memory: RollbackMemory?
    let notices: NoticeBoard
    /// How long readers that need the lock wait for it.
    let lockTimeout: Duration
    /// The fingerprint of the file whose name the memory knows to be durable.
    var rememberedFingerprint: Authenticator?
    /// Whether the user has accepted the file in spite of an alarm.
    var isAccepted = false
    /// What the memory held then.
    var overruled: LogPosition?
}

/// Opens a vault file: header, key, log, memory.
struct Opening {
    let path: String
    let options: SealedLog.Options
    let fileSystem: any FileSystem

    func opened(_ readKey: () throws(LogError) -> KeyFile) throws(LogError) -> Opened {
        var keys: KeyRing?
        if let opened = try attempt(readKey, &keys) { return opened }
        // Something was doubtful: a record half written, or a file just replaced. Now no process can write, and what
        // fails is an error.
        let deadline = Deadline(after: options.lockTimeout)
        while true {
            let store = try FileRecordStore.open(path, in: fileSystem)
            let lock = try store.lock(.shared, until: deadline)
            guard try store.isCurrent() else { continue }
            let image = try HeaderImage(of: store)
            let ring = if let keys { keys } else { try unlock(image, readKey) }
            guard let opened = try open(image, ring, isSettled: true) else { throw LogError.damaged("the log") }
            lock.release()
            return opened
        }
    }

    /// Opens without a lock; nil if anything is doubtful.
    private func attempt(
        _ readKey: () throws(LogError) -> KeyFile, _ keys: inout KeyRing?
    ) throws(LogError) -> Opened? {
        let store = try FileRecordStore.open(path, in: fileSystem)
        guard !store.needsLockToRead else { return nil }
        do throws(LogError) {
            let image = try HeaderImage(of: store)
            let ring = try unlock(image, readKey)
            keys = ring
            return try open(image, ring, isSettled: false)
        } catch {
            // A file that is replaced or written meanwhile can look like any of these.
            guard [.damaged, .rolledBack, .diverged, .exchanged].contains(error.code) else { throw error }
            return nil
        }
    }

    private func unlock(
        _ image: HeaderImage, _ readKey: () throws(LogError) -> KeyFile
    ) throws(LogError) -> KeyRing {
        let key: KeyFile
        do { key = try readKey() } catch {
            // A damaged header is reported before a missing key.
            _ = try image.header.get()
            throw error
        }
        return try image.unlock(with: key)
    }

    private func open(_ image: HeaderImage, _ keys: KeyRing, isSettled: Bool) throws(LogError) -> Opened? {
        var (view, hint) = try image.view(with: keys)
        let notices = NoticeBoard()
        let memory = options.memory(of: view, at: path, notices, in: fileSystem)
        // Read before the log: what is remembered was durable before, so the log that is read now must contain it.
        let remembered = memory?.seen()
        let seen = remembered?.position
        let durable = remembered?.isFlushedByWriter == true ? seen : nil
        let known = seen.map { [$0] } ?? []
        guard try view.followToEnd(from: hint, durable: durable, covering: known, isSettled: isSettled) else {
            return nil
        }
        if durable == view.head { view.durable = view.head }
        view.confirmed = seen
        view.lookedAtPath = LogView.coarseNow
        var opened = Opened(view: view, memory: memory, notices: notices, lockTimeout: options.lockTimeout)
        if let memory { try compare(&opened, with: memory, seen) }
        return opened
    }

    private func compare(_ opened: inout Opened, with memory: RollbackMemory, _ seen: LogPosition?) throws(LogError) {
        let view = opened.view
        let record = memory.pathRecord()
        // Needed rarely, but a part of the memory that cannot be used is reported.
        _ = memory.upkeep()
        var isAccepted = false
        func raise(_ alarm: LogError) throws(LogError) {
            guard options.accepted.contains(alarm.code) else { throw alarm }
            isAccepted = true
        }
        if let record, record.vaultID != view.header.vaultID { try raise(LogError(.exchanged, path)) }
        if let seen, let alarm = try view.alarm(against: seen) { try raise(alarm) }
        if isAccepted { memory.remember(view.head, isForced: true) }
        if isAccepted || record == nil { memory.rememberPath(durable: nil) }
        opened.isAccepted = isAccepted
        opened.overruled = isAccepted ? seen : nil
        opened.rememberedFingerprint = isAccepted ? nil : record?.durable
    }
}

extension SealedLog.Options {
    /// Returns what this machine remembers of a vault; nil if it must remember nothing.
    func memory(
        of view: LogView, at path: String, _ notices: NoticeBoard, in fileSystem: any FileSystem
    ) -> RollbackMemory? {
        memoryFolder.map { folder in
            RollbackMemory(
                folder: MemoryFolder(path: folder, fileSystem: fileSystem), keys: view.keys,
                vaultID: view.header.vaultID, path: path, notices: notices)
        }
    }
}
