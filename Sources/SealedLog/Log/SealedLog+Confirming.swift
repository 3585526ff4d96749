import LinuxSystem
import Sealing

extension LogView {
    /// Whether the newest record was written by this process, or has been confirmed.
    var isKnown: Bool { durable == head || confirmed == head }
}

extension SealedLog {
    /// How long a reader waits for a writer that may be about to flush, or to take back, what was read.
    private static let patience: Duration = .milliseconds(200)

    /// Makes the newest record last and remembers it, before what it says is given out: a machine that only reads is to
    /// notice, too, if just this one change is rolled back.
    ///
    /// - Returns: false if the record is gone: its writer has taken it back, or the file was replaced.
    /// - Throws: what opening the file anew may bring.
    func confirmNewestRecord() throws(LogError) -> Bool {
        guard let memory else { return true }
        let view = view.withLock { $0 }
        guard !view.isKnown else { return true }
        if memory.seen()?.position != view.head {
            // Through a descriptor of its own: the lock of the view's is for this process's writer.
            let store = try view.store.reopened()
            guard store.identity == view.store.identity else { return false }
            // After a while without the lock: whoever holds it for so long has flushed what came before.
            let lock = try? store.lock(.shared, until: Deadline(after: SealedLog.patience))
            guard try view.headIsThere() else { return false }
            // The writer itself may have remembered it by now.
            if memory.seen()?.position != view.head { confirm(view.head, of: view, store, memory) }
            lock?.release()
        }
        self.view.withLock { current in
            if current.head == view.head { current.confirmed = view.head }
        }
        return true
    }

    /// What cannot be made to last is not remembered: power loss would pass for a rollback.
    private func confirm(_ head: LogPosition, of view: LogView, _ store: any RecordStore, _ memory: RollbackMemory) {
        do throws(LogError) {
            try store.synchronize()
            try flushName(of: store, origin: view.origin.authenticator, knowing: memory.place()?.durable)
        } catch { return }
        memory.remember(head, isFlushedByWriter: false)
    }
}
