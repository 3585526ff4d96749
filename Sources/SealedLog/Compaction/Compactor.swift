import LinuxSystem
import Sealing

/// A writer of a compacted vault file: each name's newest entry and kept values, unopened unless resealed or repaired.
///
/// The file consists of a checkpoint with the state at the start of the compaction, and records with all later changes.
struct Compactor: ~Copyable {
    private let old: LogView
    private let counter: UpkeepProgress?
    private let change: HeaderChange?
    private let keys: KeyRing
    private var manifest: Manifest
    private var checkpoint: CheckpointWriter
    private var tail: CompactionTail
    private let now: UInt64
    /// The names of values in the checkpoint that a rotation could not open.
    private var unopened: [EntryName] = []

    // MARK: State after the checkpoint is copied
    private var reserved: CheckpointWriter.Reserved?
    /// The number of record authenticators for which space is reserved in the manifest.
    private var chainLength = 0
    /// The number of merged log positions for which space is reserved in the manifest; 0 if this is not a merge.
    private var mergedLength = 0
    /// A view of the part of the new file that is already written. The header's authenticator is not known yet.
    private var new: LogView?
    private var tree: (payload: LogView.TreePayload, totals: Totals)?

    init(
        _ old: LogView, into store: any NewStore, _ change: HeaderChange?, _ counter: UpkeepProgress?
    ) throws(LogError) {
        // Steps that can fail or branch come before all assignments. Otherwise, the Swift 6.3.1 optimizer would destroy
        // the noncopyable checkpoint before it is initialized.
        var manifest = try old.manifest()
        if let change {
            manifest.labels = change.labels
            manifest.members = change.members ?? manifest.members
            manifest.membersKnownToKey = change.membersKnownToKey ?? manifest.membersKnownToKey
            manifest.addFormer(ofCopy: change.formerMemoryKeys)
            if change.forgetsRemovedKeys { manifest.forgetRemovedKeys() }
            manifest.addRemoved(ofCopy: change.removedKeysOfCopy)
            manifest.addRemoved(change.removedKeys)
        }
        if change?.keys != nil { manifest.addFormer(memoryKey: old.keys.memoryKey) }
        self.old = old
        self.counter = counter
        self.change = change
        keys = change?.keys ?? old.keys
        now = old.store.retentionTime
        self.manifest = manifest
        checkpoint = CheckpointWriter(into: store, keys: change?.keys ?? old.keys)
        let history = change.flatMap { $0.isNewHistory ? $0.history : nil }
        tail = CompactionTail(behind: old, resealing: change?.keys, keeping: history)
    }

    // MARK: The checkpoint

    mutating func copyCheckpoint() throws(LogError) {
        guard manifest.members.count <= MemberChange.limit,
            manifest.members.reduce(0, { $0 + $1.encodedSize }) <= MemberChange.sizeLimit
        else { throw LogError(.invalid, "the members have changed too often for one vault") }
        try readRecords()
        try copyEntries()
    }

    /// Authenticates the copy of the header and all records of the old file, including their payloads, because traces
    /// of tampering are lost once the new file replaces the old one.
    private mutating func readRecords() throws(LogError) {
        // Each byte counts twice as progress: the compaction first reads all records, then the values to be kept.
        counter?.begin(2 * old.end)
        try old.checkHeaderCopy()
        manifest.chain.append(old.origin.authenticator)
        try old.forEachRecord(counter) { manifest.chain.append($0.authenticator) }
    }

    private mutating func copyEntries() throws(LogError) {
        let boxes = try copyValues()
        var merge = try old.entries()
        while var entry = try next(&merge) {
            if boxes.hasUnopened(entry) { unopened.append(entry.name) }
            try entry.forEachVersion { (version) throws(LogError) in version = try boxes.moved(version) }
            counter?.advance(by: entry.footprint)
            try checkpoint.add(entry)
        }
    }

    /// Returns the next entry to copy, without versions that are too old.
    private func next(_ merge: inout EntryMerge) throws(LogError) -> Entry? {
        while var entry = try merge.next() {
            // After a merge, an entry may have more versions than the limit. The entry's next change drops the surplus.
            if let change, change.isNewHistory {
                entry.dropHistory(beyond: change.history, now: now)
            } else {
                entry.dropHistory(olderThan: old.header.history, now: now)
            }
            if !isOutdated(entry) { return entry }
        }
        return nil
    }

    /// Returns whether to drop an entry because it has no history, and was removed or expired long ago. A time in the
    /// future, which a wrong clock may have set, counts as recent.
    private func isOutdated(_ entry: Entry) -> Bool {
        guard entry.earlier.isEmpty else { return false }
        let history = change?.history ?? old.header.history
        // An expired value counts as history, and is kept for the history's lifetime.
        let lifetime = max(Limits.tombstoneLifetime, entry.isRemoved ? 0 : history.lifetime)
        guard let end = entry.isRemoved ? entry.modified : entry.content?.expiry.map({ max($0, entry.modified) }) else {
            return false
        }
        return end < now && now - end >= lifetime
    }

    /// Copies the values by old offset. Copying them by name would reveal the names' order to anyone with both files.
    private mutating func copyValues() throws(LogError) -> MovedBoxes {
        var repair = try BoxRepair(of: old.store, keys: old.keys)
        var boxes = change?.keys == nil && repair == nil ? MovedBoxes() : MovedBoxes(opened: [])
        var merge = try old.entries()
        while let entry = try next(&merge) {
            for version in entry.versions { boxes.add(version) }
        }
        if let keys = change?.keys {
            var resealer = try ValueResealer(of: old.store, from: old.keys, to: keys)
            try boxes.reseal(&resealer, to: &checkpoint, counter)
        } else {
            try boxes.copy(from: old.reader, &repair, to: &checkpoint, counter)
        }
        return boxes
    }

    /// The names of values that a rotation could not open, sorted bytewise.
    var unopenedNames: [String] { Set(unopened + tail.unopened).sorted().map(\.text) }

    // MARK: Records written meanwhile

    /// Copies the records that other writers have appended so far.
    mutating func copyTail() throws(LogError) {
        // Reserve space in the manifest for the authenticators of the newest records, including those not yet copied.
        manifest.chain = Array(manifest.chain.suffix(Limits.chainLength))
        chainLength = min(Limits.chainLength, manifest.chain.count + CompactionTail.entriesUnderLock)
        var longest = manifest
        longest.chain = Array(repeating: old.origin.authenticator, count: chainLength)
        if let merged = change?.merged {
            let last = LogPosition(sequence: Limits.sequence, authenticator: old.origin.authenticator)
            mergedLength = min(Manifest.mergedLimit, manifest.merged.count + merged.positions.count + chainLength + 1)
            longest.merged = Array(repeating: last, count: mergedLength)
        }
        let reserved = try checkpoint.reserve(&longest)
        manifest.totals = longest.totals
        self.reserved = reserved
        var new = LogView(
            store: checkpoint.store, keys: keys,
            header: Header(
                vaultID: old.header.vaultID, sequence: 0, root: reserved.root, manifest: reserved.manifest,
                checkpointEnd: reserved.end, name: old.header.name, slots: []),
            authenticator: old.origin.authenticator)
        new.totals = manifest.totals

        try tail.readUntilFewAreLeft()
        if tail.count > CompactionTail.entriesUnderLock {
            let batch = try tail.batch(on: &new)
            var payload = try new.treePayload(batch, into: checkpoint.store)
            try checkpoint.store.write(payload.bytes, at: payload.offset)
            // The whole payload has been written to the store. The record's head is written later.
            payload.bytes = []
            tree = (payload, batch.totals)
            new.minor = RecordIndex.Tree(header: old.origin.authenticator, root: payload.root, entries: payload.entries)
            new.totals = batch.totals
            tail.forgetEntries()
        }
        self.new = new
    }

    /// Reads the records that were appended while the new file was flushed, and the new file's entries that these
    /// records replace. This leaves little work to do under the lock.
    mutating func prepareLastRecords() throws(LogError) {
        try tail.readUntilFewAreLeft()
        try tail.findReplaced(on: &new)
    }

    /// Reads the remaining records under the lock. Returns false if a minor checkpoint remains to be read.
    ///
    /// - Parameter isHurried: whether to stop at a minor checkpoint, which takes a long time to read.
    /// - Throws: `conflict` if a record that was already copied is no longer in the log.
    mutating func readLastRecords(upTo current: LogView, isHurried: Bool) throws(LogError) -> Bool {
        _ = try tail.read(isHurried: isHurried)
        guard tail.position != current.head else { return true }
        guard isHurried else { throw LogError(.conflict) }
        return false
    }

    /// Writes the header, the manifest and the remaining records. The chain continues after the old file's last record.
    mutating func finish(after notice: Record) throws(LogError) {
        guard let reserved, let provisional = new else { return }
        manifest.chain += tail.chain
        manifest.chain = Array((manifest.chain + [notice.authenticator]).suffix(chainLength))
        var sequence = notice.index.sequence + 1
        if let merged = change?.merged, let last = merged.positions.last {
            // The header's sequence number must exceed every sequence number in the history of either copy.
            let end = LogPosition(sequence: sequence, authenticator: notice.authenticator)
            manifest.merge(merged, before: end, isBelieved: change?.isOwnHistoryBelieved ?? true, upTo: mergedLength)
            sequence = max(sequence, last.sequence + 1)
        }
        guard sequence < Limits.sequence else { throw LogError(.usedUp) }
        let store = checkpoint.store
        try checkpoint.write(manifest, reserved)
        let header = Header(
            vaultID: old.header.vaultID, sequence: sequence, root: reserved.root, manifest: reserved.manifest,
            checkpointEnd: reserved.end, history: change?.history ?? old.header.history,
            isAccessLogged: change?.isAccessLogged ?? old.header.isAccessLogged, hasMembers: !manifest.members.isEmpty,
            slots: change?.slots ?? old.header.slots)
        let image = try header.sealed(with: keys, as: old.header.name?.hash)
        var new = LogView(
            store: store, keys: keys, header: try Header(parsing: Array(image[..<Header.size])),
            authenticator: try Header.authenticate(image, with: keys))
        new.totals = manifest.totals
        var hint: Hint?
        if let tree {
            let plan = try new.plan(tree.payload, totals: tree.totals)
            try store.write(plan.bytes, at: plan.record.offset)
            new.apply(plan.record)
            hint = Hint(offset: plan.record.offset, sequence: plan.record.index.sequence)
        }
        for batch in try tail.batches(on: provisional) {
            guard let plan = try new.inlinePlan(batch, upTo: Limits.indexSize) else { throw LogError(.conflict) }
            try store.write(plan.bytes, at: plan.record.offset)
            new.apply(plan.record)
        }
        try store.write(image, at: 0)
        try store.finish(at: new.end, hint)
    }
}
