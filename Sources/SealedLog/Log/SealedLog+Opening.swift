import LinuxSystem
import Sealing

extension SealedLog {
    package struct Options: Sendable {
        package var lockTimeout: Duration
        /// The alarms that the user has accepted, as codes from ``LogError/Code/alarms``.
        package var accepted: [LogError.Code]
        /// The copies to merge into the vault. An alarm about a missing log position is ignored if any copy includes
        /// the position. The rollback memory then stays unchanged until ``SealedLog/finishJoining()``.
        package var joined: [SealedLog]
        package var memoryFolder: String?
        /// Whether the file may be replaced with any version that this machine has seen, for example by a git checkout.
        /// If so, the rollback memory stores many of the log positions that this machine has seen, not only the newest.
        package var keepsHeads = false
        /// Whether a compaction that is due after a change starts automatically, on a separate thread. Otherwise,
        /// ``SealedLog/finishUpkeep()`` runs it.
        package var compactsByItself: Bool
        /// The maximum size in bytes of the cache of opened pages.
        package var indexMemory: Int
        /// A closure that creates or reads the key with which this machine signs changes to a vault with members.
        package var deviceKey: (@Sendable () throws(LogError) -> DeviceKey)?

        package init(
            lockTimeout: Duration = .seconds(10), accepted: [LogError.Code] = [], memoryFolder: String? = nil,
            joined: [SealedLog] = [], compactsByItself: Bool = true, indexMemory: Int = Limits.indexMemory,
            deviceKey: (@Sendable () throws(LogError) -> DeviceKey)? = nil
        ) {
            self.deviceKey = deviceKey
            self.joined = joined
            self.lockTimeout = lockTimeout
            self.accepted = accepted
            self.memoryFolder = memoryFolder
            self.compactsByItself = compactsByItself
            self.indexMemory = indexMemory
        }

        /// Returns the rollback memory of a vault; nil if the options have no memory folder.
        func memory(of view: LogView, at location: any StoreLocation) -> RollbackMemory? {
            memoryFolder.map { folder in
                RollbackMemory(
                    in: MemoryFolder(path: folder, fileSystem: location.files), keys: view.keys,
                    vaultID: view.header.vaultID, path: location.path, keepsHeads: keepsHeads)
            }
        }
    }

    /// Opens a vault.
    ///
    /// - Parameter unlocker: finds the key once the file is open, so a missing vault is reported before a missing key.
    /// - Throws: `missing`, `keyWrong`, `damaged`, `newerFormat`, `rolledBack`, `diverged`, `exchanged`, `busy`,
    ///   `unavailable`, or any error from the unlocker.
    package static func open(
        _ location: any StoreLocation, options: Options, with unlocker: inout some Unlocker & ~Copyable
    ) throws(LogError) -> SealedLog { shared(try Opening(location: location, options: options).opened(&unlocker)) }

    // MARK: One log per file

    private struct KnownLog: Sendable { weak var log: SealedLog? }

    private static let registry = OrderedMutex<[KnownLog]>(.registry, [])

    /// Returns the log that this process already has for the same file, or `opened` if there is none. Since threads
    /// share one log per file, they do not wait for each other's file locks.
    static func shared(_ opened: SealedLog) -> SealedLog {
        let view = opened.view.withLock { $0 }
        let log = registry.withLock { logs in
            logs.removeAll { $0.log == nil }
            if let log = logs.lazy.compactMap(\.log).first(where: { $0.isFor(opened, view.store) }) { return log }
            logs.append(KnownLog(log: opened))
            return opened
        }
        if log === opened { return log }
        if opened.isAccepted {
            // The existing log may have another file open, so it switches to the one accepted despite an alarm.
            let overruled = opened.overruled.withLock { $0 }
            log.writer.withLock { writer in
                writer.durableFile = nil
                writer.rememberedFingerprint = nil
                log.overruled.withLock { $0 = overruled }
                log.show(view)
            }
        }
        for notice in opened.notices.take() { log.notices.post(notice) }
        return log
    }

    private func isFor(_ opened: SealedLog, _ other: any RecordStore) -> Bool {
        // Callers with different folders for the rollback memory do not share a log, since a shared log would update
        // the memory in only one folder. Their separate logs exclude each other through the file lock.
        guard isOwn, vaultID == opened.vaultID, memory?.folder.path == opened.memory?.folder.path else { return false }
        let store = shownStore.withLock { $0 }
        // If the user has accepted the file now at this path despite an alarm, this log must switch to that file.
        return store.identity == other.identity || (opened.isAccepted && store.path == other.path)
    }

    // MARK: Opening again

    /// Reopens the store under its lock. This is needed if the location may refer to another store, or if the bytes
    /// that were read without the lock may be incomplete.
    func reopen() throws(LogError) {
        try writer.withLock { (_) throws(LogError) in try replaceView(until: Deadline(after: lockTimeout)) }
    }

    /// Reopens the file and replaces the view. The caller holds the writer's mutex.
    func replaceView(until deadline: Deadline) throws(LogError) {
        let current = view.withLock { $0 }
        // The rollback memory is read first. Its positions are then already durable, so the file must contain them.
        let remembered = remembered()
        let next = try current.store.onNewestHost { () throws(LogError) in
            let lock = try StoreLock.toRead(until: deadline) { () throws(LogError) in
                let store = try current.store.reopened()
                guard store.target == nil || !holdsPending.withLock({ $0 }) else { throw LogError.serverGone }
                return store
            }
            let next = try current.reopened(on: lock.store, knowing: remembered) { (view) throws(LogError) in
                guard let memory, try view.isKnown(to: memory) else { return false }
                try accept(view, of: view.store, in: memory, insteadOf: remembered?.bytes)
                // A read-only rollback memory keeps its outdated contents, so this log notes them to ignore them later.
                overruled.withLock { $0 = remembered?.bytes }
                return true
            }
            lock.release()
            return next
        }
        show(next)
    }

    /// Remembers the last position of a file accepted despite an alarm, unless another process has stored a newer one.
    ///
    /// - Parameter former: the rollback memory's contents that caused the alarm; nil if nothing was remembered.
    fileprivate func accept(
        _ view: LogView, of store: any RecordStore, in memory: RollbackMemory, insteadOf former: [UInt8]?
    ) throws(LogError) {
        // Flushes the file first: a power loss could otherwise restore the former one, which would look like an attack.
        try flush(view, of: store, in: memory)
        guard let former, memory.remember(view.head, insteadOf: former) else { return memory.remember(view.head) }
    }

    /// Makes the next read check whether the path refers to another file.
    package func lookAtPath() { view.withLock { $0.lookedAtPath = 0 } }

    /// Returns the remembered position; nil if there is none or this file was accepted despite contradicting it.
    func remembered() -> Remembered? {
        guard let remembered = memory.flatMap(Remembered.init) else { return nil }
        return remembered.bytes == overruled.withLock({ $0 }) ? nil : remembered
    }
}

extension StoreLock {
    /// Opens a store and waits for its lock. If a compaction has replaced the store in the meantime, opens the new one.
    static func toRead(
        until deadline: Deadline, _ open: () throws(LogError) -> any RecordStore
    ) throws(LogError) -> StoreLock { try onCurrent(.shared, until: deadline, open) }

    static func onCurrent(
        _ kind: LockKind, until deadline: Deadline, _ open: () throws(LogError) -> any RecordStore
    ) throws(LogError) -> StoreLock {
        while true {
            if let lock = try open().lock(kind, until: deadline) { return lock }
        }
    }
}

/// The opening of a vault. It reads the header, unlocks the keys, and compares the log with the rollback memory.
struct Opening {
    let location: any StoreLocation
    let options: SealedLog.Options

    /// The minimum number of attempts, even after the deadline, to open a store that other processes keep replacing.
    private static let leastAttempts = 5

    func opened(_ unlocker: inout some Unlocker & ~Copyable) throws(LogError) -> SealedLog {
        var keys: KeyRing?
        // Accepting an alarm means accepting the vault's current state, so the possibly older local copy is not used.
        let store = try location.open(options.accepted.isEmpty && options.joined.isEmpty ? .quick : .fresh)
        do throws(LogError) { return try open(store, &keys, &unlocker, isLocked: false) } catch {
            // A replaced file may cause any error, as it may need new keys; a concurrent write, only damage or alarms.
            let isDoubtful = error.code == .damaged || LogError.Code.alarms.contains(error.code)
            guard try isDoubtful ? true : store.isReplaced() else { throw error }
        }
        // A half-written record or a replaced file may have caused the error. The file is therefore opened again under
        // the lock, while no other process can write to it.
        let deadline = Deadline(after: options.lockTimeout)
        return try store.onNewestHost { () throws(LogError) in
            var attempts = 0
            while true {
                attempts += 1
                unlocker.restart()
                let lock = try StoreLock.toRead(until: deadline) { () throws(LogError) in try location.open(.fresh) }
                do throws(LogError) { return try open(lock.store, &keys, &unlocker, isLocked: true) } catch {
                    // A database's lock does not prevent other processes from replacing the store while this process
                    // reads it. If the store is known to have been replaced, the attempt is repeated. A few attempts
                    // are made even if the deadline has passed, because the process may merely have been suspended.
                    guard error.code == .damaged || LogError.Code.alarms.contains(error.code),
                        attempts < Opening.leastAttempts || !deadline.hasPassed, try lock.store.isReplaced()
                    else { throw lock.store.machineCopy?.explanation(of: error) ?? error }
                }
            }
        }
    }

    private func open(
        _ store: any RecordStore, _ keys: inout KeyRing?, _ unlocker: inout some Unlocker & ~Copyable, isLocked: Bool
    ) throws(LogError) -> SealedLog {
        let image = try HeaderImage(of: store)
        // Reuses the key that opened the store in the previous attempt, unless its slot has been removed.
        let ring = if let keys, image.hasSlot(of: keys) { keys } else { try image.unlock(&unlocker) }
        keys = ring
        var view = try image.view(following: ring)
        try unlocker.check(view.unlocked)
        let memory = options.memory(of: view, at: location)
        // The rollback memory is read first. Its positions are then already durable, so the log must contain them.
        let newest = memory.flatMap(Remembered.init)
        var remembered: RollbackMemory.Seen?
        var alarms: [LogError] = []
        var accepted = options.accepted
        do throws(LogError) { remembered = try newest?.seen(of: view) } catch {
            guard error.code == .rolledBack else { throw error }
            alarms.append(error)
        }
        let seen = remembered?.position
        let durable = remembered?.isFlushedByWriter == true ? seen : nil
        let known = seen.map { [$0] } ?? []
        try view.followToEnd(from: image.hint, durable: durable, covering: known, isLocked: isLocked)
        // In a database, the log's end was read before the rollback memory. Records may have been appended between the
        // two reads, so the newer records are read before an alarm is raised.
        if try view.alarm(against: seen) != nil { _ = try view.refresh() }
        if durable == view.head { view.durable = view.head }
        view.lookedAtPath = Clock.coarse

        let record = memory?.pathRecord()
        // If this path is not remembered, the newest record is unconfirmed until the first read, which adds the path.
        if record != nil { view.confirmed = seen }
        view.isLocationKnown = memory == nil || record != nil
        // Called only for its side effect: it posts a notice if this file of the rollback memory is unusable.
        _ = memory?.upkeep()
        if let record, record.vaultID != view.header.vaultID { alarms.append(LogError(.exchanged, location.path)) }
        if let alarm = try view.alarm(against: seen) {
            // Git may check out any known history. Without the lock, the alarm may be due only to a file just replaced.
            if isLocked, let memory, try view.isKnown(to: memory) { accepted.append(alarm.code) }
            alarms.append(alarm)
        }
        let refused = alarms.filter { !accepted.contains($0.code) }
        let joined = refused.isEmpty ? [] : try options.joined.map { (log) throws(LogError) in try log.joinedHistory() }
        let isJoining = refused.allSatisfy { alarm in joined.contains { $0.explains(alarm, newest) } }
        if let alarm = refused.first, !isJoining { throw alarm }
        let isAccepted = !alarms.isEmpty
        try view.replaceCopy(isAccepted: isAccepted) { kept in joined.contains { $0.includes(kept) } }
        // A position stored under a former data key stays valid until replaced, so the former keys are still needed.
        if seen != nil, let newest, memory?.seen(in: newest.bytes) == nil {
            memory?.add(formerKeys: try view.manifest().formerMemoryKeys)
        }
        let log = SealedLog(
            view, memory, options, isAccepted: isAccepted, overruled: isAccepted ? newest?.bytes : nil,
            rememberedFingerprint: isAccepted ? nil : record?.durable)
        if let memory, !refused.isEmpty {
            // The rollback memory stays unchanged, so that the alarm is raised again if the merge is not finished.
            memory.hold()
        } else if let memory {
            if isAccepted { try log.accept(view, of: store, in: memory, insteadOf: newest?.bytes) }
            do {
                try unlocker.remember(view.unlocked) { () throws(LogError) in
                    try log.flush(view, of: store, in: memory)
                }
            } catch { memory.notices.post(error) }
        }
        return log
    }
}
