import LinuxSystem

// If this machine remembers log positions that a vault lacks, an alarm is raised. The user may still open the vault, in
// order to merge it with a copy that includes these positions. The rollback memory stays unchanged until the merge is
// finished, so that after an interrupted merge, the next opening raises the alarm again.

/// The history of a copy that will be merged into the vault that is being opened.
struct JoinedHistory {
    private let view: LogView
    private let history: KnownHistory

    fileprivate init(of view: LogView) throws(LogError) {
        self.view = view
        history = try KnownHistory(of: view)
    }

    func includes(_ position: LogPosition) -> Bool { history.includes(position) == .included }

    /// Returns whether `alarm` was raised only because the vault lacks a log position that this machine remembers and
    /// the copy includes. The copy's keys decode that position, since the vault may be older than the last rotation.
    func explains(_ alarm: LogError, _ remembered: Remembered?) -> Bool {
        [.rolledBack, .diverged].contains(alarm.code) && (remembered?.isIncluded(in: history, of: view) ?? false)
    }
}

extension Remembered {
    /// Returns whether `history` includes the remembered position, which the view's keys decode.
    fileprivate func isIncluded(in history: KnownHistory, of view: LogView) -> Bool {
        guard let position = try? position(of: view) else { return false }
        return history.includes(position) == .included
    }
}

extension SealedLog {
    /// Returns the remembered position if `history` includes that position and this vault has been opened for a merge.
    func remembered(in view: LogView, _ history: KnownHistory) -> Remembered? {
        guard let memory, memory.isHeld, let remembered = Remembered(memory) else { return nil }
        return remembered.isIncluded(in: history, of: view) ? remembered : nil
    }

    /// Returns the history of this copy. Throws `copyDamaged` if the copy is damaged.
    func joinedHistory() throws(LogError) -> JoinedHistory {
        do throws(LogError) { return try ownHistory() } catch { throw error.ofCopy }
    }

    /// Checks that this copy's history can be read, which opening a vault for a merge with this copy requires.
    package func checkHistory() throws(LogError) { _ = try ownHistory() }

    private func ownHistory() throws(LogError) -> JoinedHistory {
        try read(isSure: true) { (view) throws(LogError) in try JoinedHistory(of: view) }
    }

    /// Whether this vault lacks a remembered position and has been opened for a merge with a copy that includes it.
    package var isJoining: Bool { memory?.isHeld ?? false }

    /// Updates the rollback memory after a merge. Throws `diverged` if the vault still lacks the remembered position.
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

    /// Replaces the remembered position after `copy` has been merged completely. Does nothing if the copy does not end
    /// at exactly that position, since the copy's history is not believed and may contain any position.
    func finishJoining(withAllOf copy: LogView, insteadOf remembered: Remembered) throws(LogError) {
        guard let memory, memory.isHeld, try remembered.position(of: copy) == copy.head else { return }
        memory.release()
        // The alarm must remain if another process has remembered a later position of the copy, which this vault lacks.
        if !memory.remember(view.withLock { $0.head }, insteadOf: remembered.bytes) { memory.hold() }
    }
}
