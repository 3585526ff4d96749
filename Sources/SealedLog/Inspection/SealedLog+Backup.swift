import LinuxSystem

extension SealedLog {
    /// Copies a snapshot of the vault to the target, and verifies the copy before publishing it there. Other processes
    /// can write to the vault in the meantime.
    ///
    /// - Parameters:
    ///   - isReplacing: whether to replace an existing store if the copy includes all of its changes. If false, an
    ///     existing store is an error.
    ///   - isOlderAccepted: whether the caller accepts that later changes in the replaced store may be lost.
    ///   - unlocker: finds the key if this vault's keys do not open the store at the target.
    /// - Throws: `exists`; any error from ``Replaceable``; `damaged` if the vault is damaged, or if the copy differs
    ///   from the written bytes; `busy` if another process is writing a file for the target; `unavailable`. In these
    ///   cases, no copy was created, and the file at the target is unchanged. The error is `outcomeUnknown` if the copy
    ///   was created but might not survive a power loss.
    package func backUp(
        to target: any StoreLocation, replacing isReplacing: Bool, isOlderAccepted: Bool = false,
        with unlocker: inout some Unlocker & ~Copyable, _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> VerificationReport {
        // A log's file only grows until a rename replaces it, so the bytes before the snapshot's end never change.
        try withSnapshot(isSure: true) { (view) throws(LogError) in
            let history = isReplacing ? try CopiedHistory(of: view, isOlderAccepted: isOlderAccepted) : nil
            // Checks the target first, so that the call can fail before anything is copied.
            try withReplaceable(at: target, .shared, history, &unlocker) { _ in }
            return try copy(view, to: target, counter) { (copy, head) throws(LogError) in
                // Checks the target again, under an exclusive lock: another process may have written to it meanwhile.
                try withReplaceable(at: target, .exclusive, history, &unlocker) { (old) throws(LogError) in
                    try copy.publish(over: old, head)
                }
            }
        }
    }

    /// Runs `body` with the locked store at the target, or with nil if the target has no store or `history` is nil.
    private func withReplaceable(
        at target: any StoreLocation, _ kind: LockKind, _ history: CopiedHistory?,
        _ unlocker: inout some Unlocker & ~Copyable, _ body: (Replaceable?) throws(LogError) -> Void
    ) throws(LogError) {
        guard let history, try target.exists() else { return try body(nil) }
        let lock = try StoreLock.onCurrent(kind, until: Deadline(after: lockTimeout)) { () throws(LogError) in
            try target.open(.fresh)
        }
        try body(Replaceable(lock.store, copiedWith: history, &unlocker))
        lock.release()
    }

    private func copy(
        _ view: LogView, to target: any StoreLocation, _ counter: UpkeepProgress?,
        publish: (_ copy: any NewStore, _ head: LogPosition) throws(LogError) -> Void
    ) throws(LogError) -> VerificationReport {
        let copy = try target.createLocked()
        let lock = StoreLock(store: copy)
        do throws(LogError) {
            counter?.begin(2 * view.end)
            // A copy in a database is bound to the name of its location. A copy in a file stays bound to the vault's
            // name, since a file may have any name.
            var name: BoundName?
            if let hash = copy.vaultName, hash != view.header.name?.hash {
                name = try view.header.name(hash, behind: view.head.sequence, with: view.keys)
            }
            for piece in (0..<view.end).pieces {
                var bytes = try view.store.bytes(at: piece.lowerBound, count: piece.count)
                if piece.lowerBound == 0 { name?.write(to: &bytes) }
                try copy.write(bytes, at: piece.lowerBound)
                counter?.advance(by: UInt64(piece.count))
            }
            try copy.finish(at: view.end, HeaderImage(of: view.store).hint)
            try copy.synchronize()
            let copied = try LogView.whole(copy, view.keys)
            // The copied hint may refer to a record after the copy's end. That is harmless: hints are not trusted.
            guard copied.head == view.head else { throw LogError.damaged("the copy's end", at: copied.end) }
            let report = try Verifier(of: copied, counter, startsCounter: false).run()
            try publish(copy, copied.head)
            do { try copy.synchronizeLocation() } catch { throw error.ofUnknownOutcome }
            lock.release()
            return report
        } catch {
            if error.code != .outcomeUnknown { copy.discard() }
            throw error
        }
    }
}
