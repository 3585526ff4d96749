import LinuxSystem
import Sealing

extension SealedLog {
    /// Merges another copy into this vault. Each name gets the later of its two states, and a history with the values
    /// of both copies. Afterwards, machines that remember either copy accept this vault's file as newer.
    ///
    /// The merge is done in durable steps. If a step fails, the earlier steps stay in effect. A copy does not count as
    /// merged if any part of it was refused.
    ///
    /// - Parameters:
    ///   - isPinned: whether the copy's fingerprint was verified. If not, this vault must know the copy's data key.
    ///   - taken: the names whose states are taken over from the copy, regardless of their authors.
    ///   - keptKeys: the salts of this vault's key slots that the merge keeps even if the copy has removed them.
    ///   - keptAttribute: a key. If both copies changed an entry, its merged value has this attribute of either copy.
    /// - Throws: `invalid` if the copy belongs to another vault; `pinWrong`; `copyDamaged`; `notMember` if this machine
    ///   is not allowed to sign a state that must be signed; any error from reading, writing or compacting.
    package func merge(
        _ other: MergedState, isPinned: Bool = true, taking taken: NamesTaken = .none,
        keepingKeys keptKeys: Set<[UInt8]> = [], keeping keptAttribute: String? = nil, timeout: Duration,
        _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> MergeReport {
        guard other.view.header.vaultID == vaultID else {
            throw LogError(.invalid, "the other vault is not a copy of this one")
        }
        return try merge(other.view, isPinned: isPinned, taken, keptKeys, keptAttribute, timeout: timeout, counter)
    }

    package struct MergedState { fileprivate let view: LogView }

    /// Returns the state of this log, for a merge into another copy of the vault. Throws any read error.
    package func stateToMerge() throws(LogError) -> MergedState {
        try read(isSure: true) { (view) in MergedState(view: view) }
    }

    func merge(
        _ theirs: LogView, isPinned: Bool, _ taken: NamesTaken, _ keptKeys: Set<[UInt8]>, _ keptAttribute: String?,
        timeout: Duration, _ counter: UpkeepProgress? = nil, at now: UInt64 = Clock.milliseconds
    ) throws(LogError) -> MergeReport {
        var report = MergeReport()
        let ours = try read(isSure: true) { (view) throws(LogError) in
            // The merge must write to the vault itself. If the server is unreachable, this log may be open on the very
            // copy that is being merged. That copy would then count as already merged and would be removed.
            try view.store.checkIsVault("Copies cannot be merged offline. Connect to the server first.")
            return view
        }
        report.isUnfinished = theirs.needsClearing
        let isKnown = memory?.isHeld == false
        var keys = try MergedKeys(ours, theirs, keeping: keptKeys, isOwnKnown: isKnown)
        // If this vault's history includes the copy's newest record, there is nothing to merge, unless the copy's data
        // key is newer. In that case, someone whose access was removed in the copy may have written this vault's file.
        if keys.taken == nil, try ours.includes(theirs.head) == .included { return report }
        counter?.begin(2 * theirs.end)
        let history = try ofCopy { () throws(LogError) in try KnownHistory(of: theirs) }
        let ownHistory = try KnownHistory(of: ours)
        let rememberedThere = remembered(in: theirs, history)
        if rememberedThere != nil && remembered(in: ours, ownHistory) == nil { keys.countOther() }
        if !isPinned { try keys.checkThatDataKeyIsKnown() }
        report.keys = keys.choice
        report.isOfFormerKey = keys.isOfFormerKey
        report.doubtedKeys = keys.doubtedKeys
        guard report.doubtedKeys.isEmpty else { return report }
        let gateOfOther = keys.gateOfOther(taking: taken)
        let isBelieved = try keys.isOtherHistoryBelieved
        let source = MergedCopy(
            view: theirs, past: CommonPast(ownHistory, history),
            isOwnBelieved: taken.isAll || gateOfOther == nil || isKnown,
            isBelieved: isBelieved, keys: keys, taken: taken, keptAttribute: keptAttribute,
            now: now, limit: TimeLimit(at: min(now, ours.store.server?.time ?? .max)))
        // A merge continues after the copy's highest sequence number. Near the limit, few would be left afterwards.
        guard !isBelieved && !taken.isAll || theirs.head.sequence < Limits.sequence / 2 else {
            throw LogError(.copyDamaged, "its sequence numbers are impossibly large")
        }
        try ofCopy { () throws(LogError) in try checkNonces(of: source) }
        if let gateOfOther {
            let kept = try checkOwnNames(of: ours, by: gateOfOther, with: theirs, &report)
            report.refusesOwn = !report.refused.isEmpty
            if report.refusesOwn { return report }
            // The kept states are signed before the members are merged, so that an interrupted merge can be repeated.
            try sign(kept, keys, taken, with: theirs, timeout: timeout)
        }
        // The data key and the members are merged before the entries. Comparing values by their nonces requires equal
        // data keys, and a state's author must be listed as a member before the state is merged.
        let bringsMembers = try ofCopy { () throws(LogError) in try keys.bringsMembers }
        report.members = try keys.memberDifferences
        report.goneKeys = keys.goneKeys
        if keys.choice == .other || bringsMembers || !report.goneKeys.isEmpty || !keys.keptKeys.isEmpty {
            try change(keys, nil, timeout: timeout, nil)
        }
        try mergeEntries(of: source, timeout: timeout, counter, &report)
        // Unless the whole copy counts as merged, only the positions that signers of admitted states had seen do.
        let isWhole = report.refused.isEmpty && (isBelieved || taken.isAll)
        let known = isWhole ? history.positions : KnownPositions(report.signedPositions, first: 0)
        if isWhole || !known.positions.isEmpty {
            try change(keys, known, isWhole: isWhole, isOwnBelieved: source.isOwnBelieved, timeout: timeout, counter)
        }
        // If the whole copy was merged, this vault's history has its positions, so the rollback memory needs no change.
        if let rememberedThere, !isWhole && report.isWhole && keys.isOfKnownOrigin {
            try finishJoining(withAllOf: theirs, insteadOf: rememberedThere)
        }
        return report
    }

    /// Appends one record with a batch of merged entries, unless the batch is empty.
    func append(_ batch: TransactionBatch, to ours: inout LogView, _ writer: inout Writer) throws(LogError) {
        if batch.isEmpty { return }
        try flushName(&writer)
        let short = try ours.shortPlan(batch)
        let plan = if let short { short } else { try ours.treePlan(batch, into: nil) }
        try append(plan)
    }

    /// Throws `damaged` if a value in the copy has the same nonce as a different value in the copy or in this vault.
    private func checkNonces(of copy: MergedCopy) throws(LogError) {
        var isShared = try !copy.view.namesSharingNonces().isEmpty
        // If the data keys differ, the copy's values get new nonces, which no value in this vault has.
        if !isShared, copy.keys.areOfOneDataKey {
            isShared = try read { (view) throws(LogError) in try view.sharesNonces(with: copy) }
        }
        if isShared { throw .damaged("different values share a nonce; verify the copy to list them") }
    }

    private func change(
        _ keys: MergedKeys, _ merged: KnownPositions?, isWhole: Bool = false, isOwnBelieved: Bool = true,
        timeout: Duration, _ counter: UpkeepProgress?
    ) throws(LogError) {
        _ = try changeHeader(timeout: timeout, counter) { (header, table) throws(LogError) in
            try keys.change(
                header, table, isTaken: self.keys === keys.taken, merging: merged, isWhole: isWhole,
                isOwnBelieved: isOwnBelieved)
        }
    }

    private func mergeEntries(
        of copy: MergedCopy, timeout: Duration, _ counter: UpkeepProgress?, _ report: inout MergeReport
    ) throws(LogError) {
        var merge = try ofCopy { () throws(LogError) in try copy.view.entries() }
        while true {
            let step = try ofCopy { () throws(LogError) in try MergeStep(&merge, of: copy) }
            guard !step.isEnd else { return }
            if !step.entries.isEmpty { try write(step, of: copy, timeout: timeout, &report) }
            counter?.advance(by: step.size)
            // A large step appends a tree that repeats the earlier trees' entries. Compaction drops the earlier trees.
            if view.withLock({ $0.isCompactionDue }) { _ = try compact(timeout: timeout) }
        }
    }

    private func write(
        _ step: MergeStep, of copy: MergedCopy, timeout: Duration, _ report: inout MergeReport
    ) throws(LogError) {
        let merged = try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: Deadline(after: timeout))
            // The merge works on a copy of the view, so that other threads can read during the merge.
            var ours = view.withLock { $0 }
            let gate = try gate(for: copy, to: ours)
            var values = try values(of: copy.view, for: ours)
            var batch = TransactionBatch(totals: try ours.currentTotals())
            var merged = MergeReport()
            for entry in step.entries { try merge(entry, copy, gate, &ours, &values, into: &batch, &merged) }
            try append(batch, to: &ours, &writer)
            lock.release()
            return merged
        }
        report.changed += merged.changed
        report.conflicts += merged.conflicts
        report.dropped += merged.dropped
        report.refused += merged.refused
        report.refusedRemovals.formUnion(merged.refusedRemovals)
        report.signedPositions.formUnion(merged.signedPositions)
    }

    /// Returns the filter for the copy's states. It uses this vault's members, so this vault's lock must be held.
    private func gate(for copy: MergedCopy, to ours: LogView) throws(LogError) -> MergeGate {
        let members = try ours.members()
        let key = copy.taken.isNone ? nil : try signingKey(among: members)
        return MergeGate(
            isOfFormerKey: copy.keys.isOfFormerKey, isBelieved: copy.isBelieved, members: members,
            brought: copy.keys.broughtChanges, taken: copy.taken, signer: key.map(ours.signer))
    }

    private func merge(
        _ entry: Entry, _ copy: MergedCopy, _ gate: MergeGate, _ ours: inout LogView, _ values: inout CopiedValues,
        into batch: inout TransactionBatch, _ report: inout MergeReport
    ) throws(LogError) {
        let old = try ours.find(entry.name)
        var foreign: ForeignEntry
        let admission: MergeGate.Admission
        do throws(LogError) {
            foreign = try ForeignEntry(entry, of: &values, knownAs: old, in: ours)
            admission = try foreign.pass(gate, entry, knownAs: old, &values)
        } catch { throw error.ofCopy }
        if !admission.isWhole { report.refuse(entry) }
        guard admission.entry != nil else { return }
        report.signedPositions.formUnion(foreign.entry.signedStates.compactMap(\.authorship?.seen))
        let pair = copy.pair(old, foreign.entry, changedAs: entry)
        var result = old
        let history = ours.header.history
        let now = copy.now
        let outcome = pair.merged(at: now)
        let guarded = try pair.guarded(outcome, by: copy.keptAttribute)
        if case .changed(var merged) = guarded.map(EntryPair.Outcome.changed) ?? outcome {
            merged.sequence = ours.head.sequence + 1
            if history.versions == 0 { merged.dropHistory(beyond: history, now: now) }
            try merged.checkSize()
            let boxes: [[UInt8]?]
            do throws(LogError) {
                boxes = try foreign.newBoxes(in: merged, replacing: old, in: ours, from: &values)
            } catch { throw error.ofCopy }
            if guarded != nil, let key = try signingKey(among: gate.members) {
                // A state that combines those of both copies is new, so this machine signs it.
                try merged.follow(at: now) { () throws(LogError) in try ours.manifest().created }
                merged.authorship = try ours.signer(key).authorship(of: merged, ours.value(of: merged, boxes))
            }
            batch.move(merged, boxes, replacing: old)
            report.changed.append(entry.name.text)
            result = merged
        }
        guard pair.isConflict, let result else { return }
        report.conflicts.append(entry.name.text)
        if let version = pair.superseded(by: result), !result.has(version) { report.dropped.append(entry.name.text) }
    }

    /// Runs `read`, which reads the other copy. Throws `copyDamaged` if `read` throws `damaged`.
    func ofCopy<Result>(_ read: () throws(LogError) -> Result) throws(LogError) -> Result {
        do throws(LogError) { return try read() } catch { throw error.ofCopy }
    }
}

extension LogView {
    /// Returns the current value of a merged entry. A new box is not in the file yet, so it is taken from `boxes`.
    fileprivate mutating func value(of entry: Entry, _ boxes: [[UInt8]?]) throws(LogError) -> SealedValue? {
        guard let version = entry.content?.current else { return nil }
        if let box = boxes.first ?? nil { return SealedValue(version: version, box: box[...], keys: keys) }
        guard let known = try find(entry.name)?.versions.first(where: { $0.nonce == version.nonce }) else { return nil }
        return try sealed(known)
    }
}
