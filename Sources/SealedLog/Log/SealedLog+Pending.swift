import LinuxSystem

// Changes made while no server was reachable are stored in a copy on this machine until they can be merged.

extension SealedLog {
    /// Merges a copy with pending changes into this vault, and then removes the copy. If the merge refused a change,
    /// the copy is renamed instead.
    ///
    /// If the connection is lost, the merge is retried once. If the server stays unreachable, this log reads the copy.
    ///
    /// - Parameters:
    ///   - unlocker: finds the key if the vault's keys have changed since the copy was created.
    ///   - keptAttribute: as in ``merge(_:isPinned:taking:keeping:timeout:_:)``.
    /// - Returns: nil if another process has already merged the copy.
    /// - Throws: any error from ``merge(_:isPinned:taking:keeping:timeout:_:)`` or from the unlocker; `keyWrong`.
    package func mergePending(
        _ copy: FileLocation, with unlocker: inout some Unlocker & ~Copyable, keeping keptAttribute: String? = nil,
        timeout: Duration
    ) throws(LogError) -> MergeReport? {
        do throws(LogError) { return try mergeOnce(copy, &unlocker, keptAttribute, timeout: timeout) } catch {
            guard [.unreachable, .outcomeUnknown].contains(error.code) else { throw error }
        }
        // The failed attempt has released the copy's lock, so waiting for any store's lock cannot cause a deadlock.
        try reopen()
        guard !keepsChangesApart else { throw LogError.serverGone }
        return try mergeOnce(copy, &unlocker, keptAttribute, timeout: timeout)
    }

    private func mergeOnce(
        _ copy: FileLocation, _ unlocker: inout some Unlocker & ~Copyable, _ keptAttribute: String?, timeout: Duration
    ) throws(LogError) -> MergeReport? {
        // The copy is locked: otherwise, a change that another process adds to it during the merge would be lost.
        guard let lock = try lockPending(copy, until: Deadline(after: timeout)) else {
            // Another process has merged the copy. The log is reopened, because its view may predate that merge.
            try reopen()
            return nil
        }
        holdsPending.withLock { $0 = true }
        defer { holdsPending.withLock { $0 = false } }
        // The copy is opened only as a view. A separate ``SealedLog`` would reopen its file after a failed read, and
        // wait for the lock that this method holds.
        let theirs: LogView
        do throws(LogError) { theirs = try LogView.whole(lock.store, keys, orUnlockedBy: &unlocker) } catch {
            throw error.ofCopy
        }
        var report = try merge(theirs, isPinned: false, .none, [], keptAttribute, timeout: timeout)
        // The removal must be durable: an old copy that a power loss restored would hide later changes while offline.
        if report.isWhole {
            try translated(WholeFile(copy.path, in: copy.files).remove(), at: copy.path)
        } else {
            report.keptAt = try setAside(copy)
        }
        lock.release()
        return report
    }

    private func setAside(_ copy: FileLocation) throws(LogError) -> String {
        let path = "\(copy.path).\(Clock.milliseconds)\(FileLocation.refusedEnding)"
        try translated(copy.files.rename(copy.path, to: path, replacing: false), at: copy.path)
        try translated(copy.files.synchronizeFolder(path.parentFolder), at: path)
        return path
    }

    private func lockPending(_ copy: FileLocation, until deadline: Deadline) throws(LogError) -> StoreLock? {
        do throws(LogError) {
            if let lock = try copy.open(.fresh).lock(.exclusive, until: deadline) { return lock }
            // A compaction may have replaced the copy's file. If so, the new file is locked.
            return try copy.exists() ? lockPending(copy, until: deadline) : nil
        } catch {
            guard error.code == .missing else { throw error }
            return nil
        }
    }
}

extension LogError {
    static let serverGone = LogError(
        .unreachable,
        "The connection was lost during the merge of offline changes. They are kept until the server can be reached.")
}
