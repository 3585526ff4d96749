import LinuxSystem

/// A view that has been followed to its end, and the memory that agrees with it.
struct Opened: Sendable {
    let view: LogView
    let memory: RollbackMemory?
    let notices: NoticeBoard
    /// How long readers that need the lock after all wait for it.
    let lockTimeout: Duration
    /// The mark of the file whose name the memory knows to be durable.
    var rememberedMark: Authenticator?
    /// Whether the person has accepted the file in spite of an alarm.
    var isAccepted = false
    /// What the memory held then.
    var overruled: LogPosition?
}

/// The ways to a view of a vault file.
struct Opening {
    let path: String
    let options: SealedLog.Options
    let fileSystem: any FileSystem

    /// Opens without a lock; nil where anything is doubtful.
    func attempt(unlock: (Header) throws(LogError) -> KeyRing) throws(LogError) -> Opened? {
        let store = try FileRecordStore.open(path, in: fileSystem)
        guard !store.needsLockToRead else { return nil }
        do throws(LogError) { return try open(store, isSettled: false, unlock: unlock) } catch {
            // A file that is replaced or written meanwhile can look like any of these.
            switch error.code {
            case .damaged, .rolledBack, .diverged, .exchanged: return nil
            default: throw error
            }
        }
    }

    /// Opens while nobody can write, and judges whatever fails.
    func settle(
        until deadline: Deadline, unlock: (Header) throws(LogError) -> KeyRing
    ) throws(LogError) -> Opened {
        while true {
            let store = try FileRecordStore.open(path, in: fileSystem)
            let lock = try store.lock(.shared, until: deadline)
            guard try store.isCurrent() else { continue }
            guard let opened = try open(store, isSettled: true, unlock: unlock) else {
                throw LogError.damaged("the log")
            }
            lock.release()
            return opened
        }
    }

    /// Opens a store.
    ///
    /// - Parameter isSettled: whether nobody can write; what is doubtful is judged then.
    func open(
        _ store: any RecordStore, isSettled: Bool, unlock: (Header) throws(LogError) -> KeyRing
    ) throws(LogError) -> Opened? {
        var (view, hint) = try LogView.start(store, unlock: unlock)
        let notices = NoticeBoard()
        let memory = options.memory(of: view, at: path, notices, in: fileSystem)
        // Before the log: what is remembered was durable before, so the log that is read now must hold it.
        let remembered = memory?.seen()
        let seen = remembered?.position
        let durable = remembered?.isFlushedByWriter == true ? seen : nil
        let start = view
        guard try view.followToEnd(hint, durable: durable, isSettled: isSettled) else { return nil }
        if let seen, seen.sequence <= view.head.sequence, try view.contains(seen) == nil {
            // The memory is older than the minor checkpoint where reading began.
            view = start
            guard try view.followToEnd(nil, durable: durable, isSettled: isSettled) else { return nil }
        }
        if durable == view.head { view.durable = view.head }
        view.confirmed = seen
        view.lookedAtPath = LogView.coarseNow
        var opened = Opened(view: view, memory: memory, notices: notices, lockTimeout: options.lockTimeout)
        if let memory { try judge(&opened, memory, seen) }
        return opened
    }

    /// Compares a view with what is remembered.
    private func judge(_ opened: inout Opened, _ memory: RollbackMemory, _ seen: LogPosition?) throws(LogError) {
        let view = opened.view
        let offset = memory.place()
        // The third part is needed by few, but each is to say it if it cannot be used.
        _ = memory.upkeep()
        var accepted = false
        func alarm(_ alarm: LogError) throws(LogError) {
            guard options.accepted.contains(alarm.code) else { throw alarm }
            accepted = true
        }
        if let offset, offset.vaultID != view.header.vaultID { try alarm(LogError(.exchanged, path)) }
        if let seen, let found = try view.alarm(against: seen) { try alarm(found) }
        if accepted { memory.remember(view.head, isForced: true) }
        if accepted || offset == nil { memory.rememberPlace(durable: nil) }
        opened.isAccepted = accepted
        opened.overruled = accepted ? seen : nil
        opened.rememberedMark = accepted ? nil : offset?.durable
    }
}

extension SealedLog.Options {
    /// What this machine remembers of a vault; nil if it is to remember nothing.
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
