import LinuxSystem

// What was changed while no server answered waits in a copy on this machine, to be merged.

extension SealedLog {
    /// Takes over what was changed in a copy of this vault on this machine, and removes the copy. If something of it is
    /// refused, the copy gets another name.
    ///
    /// If the connection is lost, it is tried again; if the server has gone, the log is that of the copy afterwards.
    ///
    /// - Parameters:
    ///   - unlocker: is asked if the keys have changed since the copy was begun.
    ///   - keptAttribute: as for ``merge(_:isPinned:taking:keeping:timeout:_:)``.
    /// - Returns: nil if another process has done it.
    /// - Throws: as ``merge(_:isPinned:taking:keeping:timeout:_:)``; `keyWrong`, or what the unlocker throws.
    package func mergePending(
        _ copy: FileLocation, with unlocker: inout some Unlocker & ~Copyable, keeping keptAttribute: String? = nil,
        timeout: Duration
    ) throws(LogError) -> MergeReport? {
        do throws(LogError) { return try mergeOnce(copy, &unlocker, keptAttribute, timeout: timeout) } catch {
            guard [.unreachable, .outcomeUnknown].contains(error.code) else { throw error }
        }
        // This process holds the copy's lock no more.
        try reopen()
        guard !keepsChangesApart else { throw LogError.serverGone }
        return try mergeOnce(copy, &unlocker, keptAttribute, timeout: timeout)
    }

    private func mergeOnce(
        _ copy: FileLocation, _ unlocker: inout some Unlocker & ~Copyable, _ keptAttribute: String?, timeout: Duration
    ) throws(LogError) -> MergeReport? {
        // Nobody adds to it meanwhile: it would be lost.
        guard let lock = try lockPending(copy, until: Deadline(after: timeout)) else {
            // What is shown may have been read before that.
            try reopen()
            return nil
        }
        holdsPending.withLock { $0 = true }
        defer { holdsPending.withLock { $0 = false } }
        // Not by a log of its own: where something in it is doubtful, that would wait for the lock, which is held here.
        let theirs: LogView
        do throws(LogError) { theirs = try LogView.whole(lock.store, keys, orUnlockedBy: &unlocker) } catch {
            throw error.ofCopy
        }
        var report = try merge(theirs, isPinned: false, .none, [], keptAttribute, timeout: timeout)
        // If a power loss brought the copy back, it would hide offline what was written since.
        if report.isWhole {
            try translated(WholeFile(copy.path, in: copy.files).remove(), at: copy.path)
        } else {
            report.keptAt = try setAside(copy)
        }
        lock.release()
        return report
    }

    /// Renames a copy that stays, and returns its new path.
    private func setAside(_ copy: FileLocation) throws(LogError) -> String {
        let path = "\(copy.path).\(Clock.milliseconds)\(FileLocation.refusedEnding)"
        try translated(copy.files.rename(copy.path, to: path, replacing: false), at: copy.path)
        try translated(copy.files.synchronizeFolder(path.parentFolder), at: path)
        return path
    }

    private func lockPending(_ copy: FileLocation, until deadline: Deadline) throws(LogError) -> StoreLock? {
        do throws(LogError) {
            if let lock = try copy.open(.fresh).lock(.exclusive, until: deadline) { return lock }
            // A compaction may have replaced it.
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
        "The server has gone while what was changed offline was merged. It waits until the server is back.")
}
