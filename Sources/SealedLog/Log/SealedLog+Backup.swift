import LinuxSystem

extension SealedLog {
    /// Copies the vault to another place, as it is at one moment, while others write. The copy is verified before it
    /// gets its name.
    ///
    /// - Parameter isReplacing: whether what is at the target is replaced; otherwise it is an error.
    /// - Throws: `exists`; `damaged` if the vault is, or if the copy is not as it was written; `busy` if another
    ///   process writes a file for the target; `unavailable`: there is no copy then, and the file at the target is as
    ///   it was. `outcomeUnknown` if the copy is there, and may not outlast a power loss.
    package func backUp(
        to target: any RecordPlace, replacing isReplacing: Bool, _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> VerificationReport {
        // The log only grows, and its file only changes by a rename: what is before the head stays.
        try withSnapshot(isSure: true) { (view) throws(LogError) in
            try SealedLog.copy(view, to: target, replacing: isReplacing, counter)
        }
    }

    private static func copy(
        _ view: LogView, to target: any RecordPlace, replacing isReplacing: Bool, _ counter: UpkeepProgress?
    ) throws(LogError) -> VerificationReport {
        let lock = try target.createLocked()
        let copy = lock.store
        do throws(LogError) {
            counter?.begin(2 * view.end)
            for piece in (0..<view.end).pieces {
                let bytes = try view.store.bytes(at: piece.lowerBound, count: piece.count)
                try copy.write(bytes, at: piece.lowerBound)
                counter?.advance(by: UInt64(piece.count))
            }
            try copy.finish(at: view.end, HeaderImage(of: view.store).hint)
            try copy.synchronize()
            let copied = try LogView.settled(copy, view.keys)
            // A hint may be for a record behind the head: it is only a shortcut.
            guard copied.head == view.head else { throw LogError.damaged("the copy's end", at: copied.end) }
            let report = try Verifier(of: copied, counter, isWhole: false).run()
            try copy.publish(replacing: isReplacing, copied.head)
            do { try copy.synchronizeLocation() } catch { throw error.ofUnknownOutcome }
            lock.release()
            return report
        } catch {
            if error.code != .outcomeUnknown { copy.discard() }
            throw error
        }
    }
}
