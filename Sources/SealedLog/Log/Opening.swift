/// A view that has been followed to its end, and the memory that agrees with it.
struct Opened: Sendable {
    let view: LogView
    let memory: RollbackMemory?
    /// How long readers that need the lock after all wait for it.
    let lockTimeout: Duration
    /// The mark of the file whose name the memory knows to be durable.
    var rememberedMark: Authenticator?
    /// Whether the person has accepted the file in spite of an alarm.
    var isAccepted = false
    /// What the memory held then.
    var overruled: Moment?
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
        let memory = options.memoryFolder.map {
            RollbackMemory(
                folder: $0, fileSystem: fileSystem, keys: view.keys, vaultID: view.header.vaultID, path: path)
        }
        // Before the log: what is remembered was durable before, so the log that is read now must hold it.
        let seen = memory?.seen()
        let start = view
        guard try view.followToEnd(hint, durable: seen, isSettled: isSettled) else { return nil }
        if let seen, seen.sequence <= view.head.sequence, try view.contains(seen) == nil {
            // The memory is older than the minor checkpoint where reading began.
            view = start
            guard try view.followToEnd(nil, durable: seen, isSettled: isSettled) else { return nil }
        }
        if seen == view.head { view.durable = view.head }
        view.lookedAtPath = LogView.coarseNow
        var opened = Opened(view: view, memory: memory, lockTimeout: options.lockTimeout)
        if let memory { try judge(&opened, memory, seen) }
        return opened
    }

    /// Compares a view with what is remembered, and remembers what is new and known to be durable.
    private func judge(_ opened: inout Opened, _ memory: RollbackMemory, _ seen: Moment?) throws(LogError) {
        let view = opened.view
        let place = memory.place()
        var accepted = false
        func alarm(_ alarm: LogError) throws(LogError) {
            guard options.accepted.contains(alarm.code) else { throw alarm }
            accepted = true
        }
        if let place, place.vaultID != view.header.vaultID { try alarm(LogError(.exchanged, path)) }
        if let seen, let found = try view.alarm(against: seen) { try alarm(found) }
        if accepted {
            try? memory.remember(view.head, isForced: true)
        } else if let durable = try view.lastDurable(knowing: seen) {
            try? memory.remember(durable)
        }
        if accepted || place == nil { try? memory.rememberPlace(durable: nil) }
        opened.isAccepted = accepted
        opened.overruled = accepted ? seen : nil
        opened.rememberedMark = accepted ? nil : place?.durable
    }
}

extension LogView {
    /// The newest moment that is surely on the disk and newer than the one known; nil if there is none.
    ///
    /// A reader cannot tell whether the last record is durable yet, but a record is written only after the one before it was.
    fileprivate func lastDurable(knowing seen: Moment?) throws(LogError) -> Moment? {
        let sequence = head.sequence - min(head.sequence, 1)
        guard seen.map({ $0.sequence < sequence }) ?? true else { return nil }
        if passed.count >= 2 { return passed[passed.count - 2] }
        guard head == origin, let last = try manifest().chain.last else { return nil }
        return Moment(sequence: sequence, authenticator: last)
    }
}
