import LinuxSystem

// A vault that lacks what this machine remembers may be opened to be merged with a copy that has it. The memory stays
// as it is until the merge is finished: whatever happens before, the next opening raises the alarm again.

/// The history of a copy that is merged next.
struct JoinedHistory {
    private let view: LogView
    private let history: KnownHistory

    fileprivate init(of view: LogView) throws(LogError) {
        self.view = view
        history = try KnownHistory(of: view)
    }

    func includes(_ position: LogPosition) -> Bool { history.includes(position) == .included }

    /// Whether a vault raises an alarm only since it lacks what is in the copy. The copy's keys tell what the memory
    /// says, too: the vault may be from before a rotation.
    func explains(_ alarm: LogError, _ remembered: Remembered?) -> Bool {
        [.rolledBack, .diverged].contains(alarm.code) && (remembered?.isIncluded(in: history, of: view) ?? false)
    }
}

extension Remembered {
    /// Whether a history that the keys of a view open includes what is remembered.
    fileprivate func isIncluded(in history: KnownHistory, of view: LogView) -> Bool {
        guard let position = try? position(of: view) else { return false }
        return history.includes(position) == .included
    }
}

extension SealedLog {
    /// Returns what is remembered of this vault, if it was opened to be merged and a copy has that.
    func remembered(in view: LogView, _ history: KnownHistory) -> Remembered? {
        guard let memory, memory.isHeld, let remembered = Remembered(memory) else { return nil }
        return remembered.isIncluded(in: history, of: view) ? remembered : nil
    }

    /// Returns the history of this copy. Throws `copyDamaged` if it cannot be read.
    func joinedHistory() throws(LogError) -> JoinedHistory {
        do throws(LogError) { return try ownHistory() } catch { throw error.ofCopy }
    }

    /// Reads the history, which another vault's opening relies on if this is a copy of that.
    package func checkHistory() throws(LogError) { _ = try ownHistory() }

    private func ownHistory() throws(LogError) -> JoinedHistory {
        try read(isSure: true) { (view) throws(LogError) in try JoinedHistory(of: view) }
    }

    /// Whether this vault lacks what this machine remembers, and was opened to be merged.
    package var isJoining: Bool { memory?.isHeld ?? false }

    /// Remembers the vault again that was opened to be merged. Throws `diverged` if it lacks what is remembered still.
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

    /// Remembers the vault instead of what was remembered, if it has all of a copy that is the very file which this
    /// machine has seen. Its history does not say so: nobody believes what such a copy says of its own, and another one
    /// that claims to have had what is remembered changes nothing.
    func finishJoining(withAllOf copy: LogView, insteadOf remembered: Remembered) throws(LogError) {
        guard let memory, memory.isHeld, try remembered.position(of: copy) == copy.head else { return }
        memory.release()
        // Another process may have remembered more of the copy, which is not here.
        if !memory.remember(view.withLock { $0.head }, insteadOf: remembered.bytes) { memory.hold() }
    }
}
