import LinuxSystem

// If a copy has removed a person's access, that person may have written states of this vault. A merge with the copy
// refuses these states unless the user keeps them. This machine then signs the kept states.

extension SealedLog {
    /// Reports each name with a state that only this vault has and that the merge's filter, `gate`, refuses. Returns
    /// the names with states that are accepted only because the user chose to keep them.
    func checkOwnNames(
        of ours: LogView, by gate: MergeGate, with theirs: LogView, _ report: inout MergeReport
    ) throws(LogError) -> [EntryName] {
        var kept: [EntryName] = []
        var values = try values(of: ours, for: theirs)
        var merge = try ours.entries()
        while let entry = try merge.next() {
            let (_, admission) = try admission(of: entry, &values, by: gate, to: theirs)
            if !admission.isWhole { report.refuse(entry) }
            if admission.isTaken { kept.append(entry.name) }
        }
        return kept
    }

    func values(of copy: LogView, for other: LogView) throws(LogError) -> CopiedValues {
        let isRotated = try copy.keys.fingerprint(of: vaultID) != other.keys.fingerprint(of: vaultID)
        return try CopiedValues(of: copy, resealing: isRotated ? other.keys : nil)
    }

    /// Returns an entry of this vault as the other copy would merge it, and whether the merge's filter admits it.
    private func admission(
        of entry: Entry, _ values: inout CopiedValues, by gate: MergeGate, to theirs: LogView
    ) throws(LogError) -> (entry: Entry, MergeGate.Admission) {
        var theirs = theirs
        let known = try ofCopy { () throws(LogError) in try theirs.find(entry.name) }
        var foreign = try ForeignEntry(entry, of: &values, knownAs: known, in: theirs)
        let admission = try foreign.pass(gate, entry, knownAs: known, &values)
        return (foreign.entry, admission)
    }

    /// Signs the states of this vault that the user chose to keep. Their authors may be unknown, or may not be members
    /// of the merged vault. Throws `notMember` if this machine is not allowed to sign.
    func sign(
        _ names: [EntryName], _ keys: MergedKeys, _ taken: NamesTaken, with theirs: LogView, timeout: Duration
    ) throws(LogError) {
        guard !names.isEmpty else { return }
        try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: Deadline(after: timeout))
            var ours = view.withLock { $0 }
            let key = try signingKey(among: keys.members(ours.members()))
            guard let gate = keys.gateOfOther(taking: taken, signer: key.map(ours.signer)) else { return }
            var values = try values(of: ours, for: theirs)
            var batch = TransactionBatch(totals: try ours.currentTotals())
            for name in names {
                guard let old = try ours.find(name) else { continue }
                var entry = old
                entry.takeAuthorships(of: try admission(of: old, &values, by: gate, to: theirs).entry)
                guard entry != old else { continue }
                entry.sequence = ours.head.sequence + 1
                try entry.checkSize()
                batch.move(entry, entry.versions.map { _ in nil }, replacing: old)
            }
            try append(batch, to: &ours, &writer)
            lock.release()
        }
    }
}

extension Entry {
    fileprivate mutating func takeAuthorships(of other: Entry) {
        authorship = other.authorship
        for index in earlier.indices { earlier[index].authorship = other.earlier[index].authorship }
    }
}
