import LinuxSystem
import Sealing

extension SealedLog {
    /// Follows what was appended to the file; false if something is doubtful, if the file has been replaced, or if it lacks what
    /// was seen of it.
    @inline(__always)
    func refresh(_ view: inout LogView) throws(LogError) -> Bool {
        guard try view.refresh() else { return false }
        let isDue = view.isDueForLookAtPath()
        guard isDue || view.isCompactionAnnounced else { return true }
        return try look(at: &view, isDue)
    }

    /// Looks whether the view's file is still the vault, and, where that is due, whether it is as new as it was seen to be: one
    /// that is copied over this one from a backup keeps its place, and may end where this view does.
    @inline(never)
    private func look(at view: inout LogView, _ isDue: Bool) throws(LogError) -> Bool {
        // Should that be in doubt, the next reading is to find out too.
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

    /// What this machine remembers of the vault, unless the person has accepted the file in spite of it.
    func seen() -> LogPosition? {
        guard let seen = memory?.seen()?.position, seen != overruled.withLock({ $0 }) else { return nil }
        return seen
    }

    /// Opens the file anew, while nobody can write: another file lies at the path, or something in this one is doubtful.
    func settle() throws(LogError) {
        try writer.withLock { (_) throws(LogError) in try replaceView(until: Deadline(after: lockTimeout)) }
    }

    /// The same, for those who have the writer's lock.
    func replaceView(until deadline: Deadline) throws(LogError) {
        let current = view.withLock { $0 }
        // Before the file: what is remembered was durable before, so the file that is read now must hold it.
        let next = try current.reopened(until: deadline, knowing: seen())
        view.withLock { $0 = next }
        register()
    }
}

extension LogView {
    func agrees(with seen: LogPosition?) throws(LogError) -> Bool {
        guard let seen, seen != head else { return true }
        return try alarm(against: seen) == nil
    }
}
