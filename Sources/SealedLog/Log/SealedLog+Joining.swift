import LinuxSystem

// A vault that lacks positions which this machine remembers may be opened to be merged with a copy that has them. The
// memory stays unchanged until the merge is finished. If that is interrupted, the next opening raises the alarm again.

/// The history of a copy that is merged next.
struct JoinedHistory {
    private let view: LogView
    private let history: KnownHistory

    fileprivate init(of view: LogView) throws(LogError) {
        self.view = view
        history = try KnownHistory(of: view)
    }

    func includes(_ position: LogPosition) -> Bool { history.includes(position) == .included }

    /// Returns whether a vault raises an alarm only because it lacks positions that are in the copy. The copy's keys
    /// are used to decode the memory, since the vault may be from before a rotation.
    func explains(_ alarm: LogError, _ remembered: Remembered?) -> Bool {
        [.rolledBack, .diverged].contains(alarm.code) && (remembered?.isIncluded(in: history, of: view) ?? false)
    }
}

extension Remembered {
    /// Returns whether a history, opened by the keys of a view, includes the remembered position.
    fileprivate func isIncluded(in history: KnownHistory, of view: LogView) -> Bool {
        guard let position = try? position(of: view) else { return false }
        return history.includes(position) == .included
    }
}

extension SealedLog {
    /// Returns the memory of this vault, if the vault was opened to be merged and a copy has the remembered position.
    func remembered(in view: LogView, _ history: KnownHistory) -> Remembered? {
        guard let memory, memory.isHeld, let remembered = Remembered(memory) else { return nil }
        return remembered.isIncluded(in: history, of: view) ? remembered : nil
    }

    /// Returns the history of this copy. Throws `copyDamaged` if it cannot be read.
    func joinedHistory() throws(LogError) -> JoinedHistory {
        do throws(LogError) { return try ownHistory() } catch { throw error.ofCopy }
    }

    /// Checks that the history can be read, which the opening of another vault depends on if this is a copy of that
    /// vault.
    package func checkHistory() throws(LogError) { _ = try ownHistory() }

    private func ownHistory() throws(LogError) -> JoinedHistory {
        try read(isSure: true) { (view) throws(LogError) in try JoinedHistory(of: view) }
    }

    /// Whether this vault lacks a remembered position and was opened to be merged.
    package var isJoining: Bool { memory?.isHeld ?? false }

    /// Remembers the vault again after the merge. Throws `diverged` if it still lacks the remembered position.
    package func finishJoining() throws(LogError) {
        guard let memory, memory.isHeld else { return }
        let remembered = Remembered(memory)
        let head = try read(isSure: true) { (view) throws(LogError) in
            let position = try remembered?.position(of: view)
            if let position, try KnownHistory(of: view).includes(position) != .included {
                throw LogError(.diverged, "change \(position.sequence)")
            }
            return view.head
        }
        memory.release()
        memory.remember(head)
    }

    /// Remembers the vault in place of the former position, if it includes all of a copy that is exactly the file that
    /// this machine has seen. The history of such a copy cannot prove that, since it is not believed: another copy that
    /// claims the remembered position has no effect.
    func finishJoining(withAllOf copy: LogView, insteadOf remembered: Remembered) throws(LogError) {
        guard let memory, memory.isHeld, try remembered.position(of: copy) == copy.head else { return }
        memory.release()
        // Another process may have remembered a later position of the copy, which is not here.
        if !memory.remember(view.withLock { $0.head }, insteadOf: remembered.bytes) { memory.hold() }
    }
}
