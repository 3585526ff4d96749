import LinuxSystem

// An alarm is raised if a vault lacks log positions that this machine remembers. The user can still open the vault in
// order to merge it with a copy that includes these positions. The rollback memory stays unchanged until the merge is
// finished. If the merge is interrupted, opening the vault therefore raises the alarm again.

/// The history of a copy that will be merged into the vault that is being opened.
struct JoinedHistory {
    private let view: LogView
    private let history: KnownHistory

    fileprivate init(of view: LogView) throws(LogError) {
        self.view = view
        history = try KnownHistory(of: view)
    }

    func includes(_ position: LogPosition) -> Bool { history.includes(position) == .included }

    /// Returns whether `alarm` was raised only because the vault lacks a remembered log position that the copy
    /// includes. That position is decoded with the copy's keys, since the vault may be older than the last rotation.
    func explains(_ alarm: LogError, _ remembered: Remembered?) -> Bool {
        [.rolledBack, .diverged].contains(alarm.code) && (remembered?.isIncluded(in: history, of: view) ?? false)
    }
}

extension Remembered {
    /// Decodes the remembered position with the view's keys, and returns whether `history` includes it.
    fileprivate func isIncluded(in history: KnownHistory, of view: LogView) -> Bool {
        guard let position = try? position(of: view) else { return false }
        return history.includes(position) == .included
    }
}

extension SealedLog {
    /// Returns the remembered log position, if this vault was opened for a merge and `history` includes that position.
    func remembered(in view: LogView, _ history: KnownHistory) -> Remembered? {
        guard let memory, memory.isHeld, let remembered = Remembered(memory) else { return nil }
        return remembered.isIncluded(in: history, of: view) ? remembered : nil
    }

    /// Returns this log's history, for a merge into another vault. Throws `copyDamaged` if the log is damaged.
    func joinedHistory() throws(LogError) -> JoinedHistory {
        do throws(LogError) { return try ownHistory() } catch { throw error.ofCopy }
    }

    /// Checks that this copy's history can be read. If it cannot, no vault can be opened for a merge with this copy.
    package func checkHistory() throws(LogError) { _ = try ownHistory() }

    private func ownHistory() throws(LogError) -> JoinedHistory {
        try read(isSure: true) { (view) throws(LogError) in try JoinedHistory(of: view) }
    }

    /// Whether this vault lacks a remembered log position and has been opened only to merge a copy that includes it.
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

    /// Replaces the log position that this machine remembers, after `copy` has been merged completely. Does nothing
    /// unless the copy ends at exactly that position: the copy's history is not trusted, and may contain any position.
    func finishJoining(withAllOf copy: LogView, insteadOf remembered: Remembered) throws(LogError) {
        guard let memory, memory.isHeld, try remembered.position(of: copy) == copy.head else { return }
        memory.release()
        // The alarm stays on if another process has stored a later position of the copy, which this vault lacks.
        if !memory.remember(view.withLock { $0.head }, insteadOf: remembered.bytes) { memory.hold() }
    }
}
