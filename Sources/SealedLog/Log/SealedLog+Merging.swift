import LinuxSystem
import Sealing

/// The outcome of a merge.
package struct MergeReport: Hashable, Sendable {
    /// The names that have come or changed here, sorted bytewise.
    package fileprivate(set) var changed: [String] = []
    /// Those of them, and others, that both sides had changed: the later value counts, and the history has the other.
    package fileprivate(set) var conflicts: [String] = []
}

extension SealedLog {
    /// Takes over what another copy of this vault has: of each name the later state, with the values of both sides as
    /// its history. Afterwards, the copies' machines accept this file as the later one of both.
    ///
    /// It is done in steps that are all durable; what a step has merged stays if the next one fails.
    ///
    /// - Throws: `invalid` if it is another vault; what reading, writing and compacting throw.
    package func merge(
        _ other: SealedLog, timeout: Duration, _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> MergeReport {
        guard other.vaultID == vaultID else {
            throw LogError(.invalid, "it is another vault, not a copy of this one")
        }
        let theirs = try other.read(isSure: true) { (view) throws(LogError) in view }
        counter?.begin(2 * theirs.end)
        var (report, merge) = (MergeReport(), try theirs.entries())
        while true {
            let step = try MergeStep(&merge)
            guard !step.entries.isEmpty else { break }
            try write(step, of: theirs, timeout: timeout, &report)
            counter?.advance(by: UInt64(step.size))
        }
        let positions = try theirs.knownPositions()
        let isKnown = try read { (view) throws(LogError) in
            guard view.head.sequence >= theirs.head.sequence else { return false }
            return try view.includes(theirs.head) == .included
        }
        if !isKnown {
            _ = try changeHeader(timeout: timeout, counter) { (header, table) throws(LogError) in
                HeaderChange(old: header, table, merged: positions)
            }
        }
        return report
    }

    /// Writes one record with the entries that change.
    private func write(
        _ step: MergeStep, of theirs: LogView, timeout: Duration, _ report: inout MergeReport
    ) throws(LogError) {
        let (changed, conflicts) = try writer.withLock { (writer) throws(LogError) -> ([String], [String]) in
            let lock = try lockForWriting(&writer, until: Deadline(after: timeout))
            var (changed, conflicts): ([String], [String]) = ([], [])
            // A copy: others may read meanwhile.
            var ours = view.withLock { $0 }
            var batch = TransactionBatch(totals: try ours.currentTotals())
            let id = vaultID
            let isRotated = try theirs.keys.fingerprint(of: id) != ours.keys.fingerprint(of: id)
            for entry in step.entries {
                let old = try ours.find(entry.name)
                let foreign = try ForeignEntry(entry, of: theirs, knownAs: old, in: ours, isRotated: isRotated)
                let pair = EntryPair(own: old, other: foreign.entry)
                if pair.isConflict { conflicts.append(entry.name.text) }
                guard let merged = pair.merged else { continue }
                changed.append(entry.name.text)
                batch.move(merged, try foreign.newBoxes(in: merged, replacing: old), replacing: old)
            }
            if !batch.isEmpty {
                try flushName(&writer)
                let short = try ours.shortPlan(batch)
                let plan = if let short { short } else { try ours.treePlan(batch, into: nil) }
                try append(plan, &writer)
            }
            lock.release()
            return (changed, conflicts)
        }
        report.changed += changed
        report.conflicts += conflicts
    }
}

/// Entries of another copy that are merged together, while nobody else can write.
private struct MergeStep {
    private(set) var entries: [Entry] = []
    private(set) var size = 0

    private static let limits = (entries: 1_000, size: 16 << 20)

    init(_ merge: inout EntryMerge) throws(LogError) {
        while entries.count < MergeStep.limits.entries, size < MergeStep.limits.size, let entry = try merge.next() {
            size += Int(entry.footprint)
            entries.append(entry)
        }
    }
}

/// An entry of another copy, with this side's versions in place of those that are the same.
///
/// Under the same data key, a version has the same nonce on both sides, and its box stays as it is. Otherwise, it is
/// sealed anew, and one that both sides had before the data key was rotated is known by its time and its value.
private struct ForeignEntry {
    private(set) var entry: Entry
    private let theirs: LogView
    /// The boxes of the versions that are sealed anew.
    private var sealed: [Nonce: [UInt8]] = [:]

    init(
        _ entry: Entry, of theirs: LogView, knownAs old: Entry?, in ours: LogView, isRotated: Bool
    ) throws(LogError) {
        (self.entry, self.theirs) = (entry, theirs)
        let known = old?.states ?? []
        var (states, boxes) = (entry.states[...], [Nonce: [UInt8]]())
        try self.entry.forEachVersion { (version) throws(LogError) in
            guard let state = states.popFirst() else { return }
            for own in known {
                let isSame =
                    isRotated ? try own.hasValue(of: state, theirs, ours) : own.version.nonce == version.nonce
                guard isSame else { continue }
                version = own.version
                return
            }
            guard isRotated else { return }
            var resealer = try ValueResealer(of: theirs.store, from: theirs.keys, to: ours.keys)
            let resealed = try resealer.reseal(version)
            version = resealed.version
            boxes[version.nonce] = resealed.box
        }
        sealed = boxes
    }

    /// Returns the boxes of a merged entry's versions, the present one first; nil for those that are in this file.
    func newBoxes(in entry: Entry, replacing old: Entry?) throws(LogError) -> [[UInt8]?] {
        var boxes: [[UInt8]?] = []
        for version in entry.versions {
            if old?.has(version) ?? false {
                boxes.append(nil)
            } else if let box = sealed[version.nonce] {
                boxes.append(box)
            } else {
                boxes.append(try theirs.store.bytes(at: version.offset, count: version.boxLength))
            }
        }
        return boxes
    }
}

extension EarlierVersion {
    /// Returns whether a version of another copy, under another data key, was set at the same time to the same value.
    fileprivate func hasValue(of other: EarlierVersion, _ theirs: LogView, _ ours: LogView) throws(LogError) -> Bool {
        guard modified == other.modified, version.kind == other.version.kind, version.length == other.version.length
        else { return false }
        return try ours.opened(version).isEqual(to: theirs.opened(other.version))
    }
}

extension LogView {
    fileprivate func opened(_ version: StoredVersion) throws(LogError) -> SecretBytes {
        let box = try store.bytes(at: version.offset, count: version.boxLength)
        return try SealedValue(version: version, box: box[...], keys: keys).opened()
    }
}

extension LogView {
    /// Returns the log positions of this history that are known, in ascending order of their numbers.
    func knownPositions() throws(LogError) -> [LogPosition] {
        let manifest = try manifest()
        var positions = manifest.positions(before: origin) + [origin]
        try forEachRecord(nil) { positions.append($0.position) }
        return positions
    }
}
