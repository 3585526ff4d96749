import LinuxSystem

extension SealedLog {
    /// Copies the vault to another place, as it is at one moment, while others write. The copy is verified before it
    /// gets its name.
    ///
    /// - Parameters:
    ///   - isReplacing: whether what is at the target is replaced if the copy has all that is in it; otherwise it is an
    ///     error.
    ///   - isOlderAccepted: whether what is replaced may have had later changes, which are lost.
    ///   - unlocker: is asked if this vault's keys do not open what is at the target.
    /// - Throws: `exists`; what ``Replaceable`` throws; `damaged` if the vault is, or if the copy is not as it was
    ///   written; `busy` if another process writes a file for the target; `unavailable`: there is no copy then, and the
    ///   file at the target is as it was. `outcomeUnknown` if the copy is there, and may not outlast a power loss.
    package func backUp(
        to target: any StoreLocation, replacing isReplacing: Bool, isOlderAccepted: Bool = false,
        with unlocker: inout some Unlocker & ~Copyable, _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> VerificationReport {
        // The log only grows, and its file only changes by a rename: what is before the head stays.
        try withSnapshot(isSure: true) { (view) throws(LogError) in
            let history = isReplacing ? try CopiedHistory(of: view, isOlderAccepted: isOlderAccepted) : nil
            // A refusal is told before anything is copied.
            try withReplaceable(at: target, .shared, history, &unlocker) { _ in }
            return try copy(view, to: target, counter) { (copy, head) throws(LogError) in
                // Others may have written there meanwhile. From now on they wait.
                try withReplaceable(at: target, .exclusive, history, &unlocker) { (old) throws(LogError) in
                    try copy.publish(over: old, head)
                }
            }
        }
    }

    /// Runs `body` with what is at the target, locked; with nil if there is nothing, or nothing is to be replaced.
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
            // A file keeps the name of the vault that it is a copy of: nothing asks a file for one.
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
            // A hint may be for a record behind the head: it is only a shortcut.
            guard copied.head == view.head else { throw LogError.damaged("the copy's end", at: copied.end) }
            let report = try Verifier(of: copied, counter, isWhole: false).run()
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
