import LinuxSystem
import Sealing

/// Writes the compacted file of a vault: the newest entry of each name, and the values of present ones, still sealed.
///
/// A checkpoint of the log as it was when the compaction began; behind it, as records, what was written meanwhile.
struct Compactor: ~Copyable {
    private let old: LogView
    private let counter: UpkeepProgress?
    private var manifest: Manifest
    private var checkpoint: CheckpointWriter
    private var tail: CompactionTail
    private let now = Clock.milliseconds

    // Once the checkpoint is copied:
    private var reserved: CheckpointWriter.Reserved?
    /// The number of authenticators for which the manifest has room.
    private var chainLength = 0
    /// The new file as far as it is written. Its header's authenticator is not known yet.
    private var new: LogView?
    private var tree: (payload: LogView.TreePayload, totals: Totals)?

    init(_ old: LogView, into store: any RecordStore, _ counter: UpkeepProgress?) throws(LogError) {
        (self.old, self.counter) = (old, counter)
        manifest = try old.manifest()
        checkpoint = CheckpointWriter(into: store, keys: old.keys)
        tail = CompactionTail(behind: old)
    }

    // MARK: The checkpoint

    mutating func copyCheckpoint() throws(LogError) {
        try readRecords()
        try copyEntries()
    }

    /// Authenticates all records of the old file, with their payloads, and the header's copy: a change to them must not
    /// disappear with the file.
    private mutating func readRecords() throws(LogError) {
        // All records are read, and then the values that are present.
        counter?.begin(2 * old.end)
        try old.checkHeaderCopy()
        manifest.chain.append(old.origin.authenticator)
        try old.forEachRecord(counter) { manifest.chain.append($0.authenticator) }
    }

    private mutating func copyEntries() throws(LogError) {
        let boxes = try copyValues()
        var merge = try old.entries()
        while var entry = try merge.next() {
            if isOutdated(entry) { continue }
            try entry.content?.current.move(to: boxes)
            for index in entry.content?.earlier.indices ?? 0..<0 {
                try entry.content?.earlier[index].version.move(to: boxes)
            }
            counter?.advance(by: entry.footprint)
            try checkpoint.add(entry)
        }
    }

    /// Whether nothing remains of a name: it was removed, or its value expired, long ago. A time in the future, from a
    /// wrong clock, counts as young.
    private func isOutdated(_ entry: Entry) -> Bool {
        guard let end = entry.isRemoved ? entry.modified : entry.content?.expiry else { return false }
        return end < now && now - end >= Limits.tombstoneLifetime
    }

    /// Copies the values in the order of their old offsets: that of their names would show to a reader of both files.
    private mutating func copyValues() throws(LogError) -> MovedBoxes {
        var boxes = MovedBoxes()
        var merge = try old.entries()
        while let entry = try merge.next() {
            if isOutdated(entry) { continue }
            for version in entry.versions { boxes.add(version) }
        }
        try boxes.copy(from: old.reader, to: &checkpoint, counter)
        return boxes
    }

    // MARK: What was written meanwhile

    /// Copies what others have written by now.
    mutating func copyTail() throws(LogError) {
        // Of what is still written, the newest have room.
        manifest.chain = Array(manifest.chain.suffix(Limits.chainLength))
        chainLength = min(Limits.chainLength, manifest.chain.count + CompactionTail.entriesUnderLock)
        var longest = manifest
        longest.chain = Array(repeating: old.origin.authenticator, count: chainLength)
        let reserved = try checkpoint.reserve(&longest)
        manifest.totals = longest.totals
        self.reserved = reserved
        var new = LogView(
            store: checkpoint.store, keys: old.keys,
            header: Header(
                vaultID: old.header.vaultID, sequence: 0, root: reserved.root, manifest: reserved.manifest,
                checkpointEnd: reserved.end, slots: []),
            authenticator: old.origin.authenticator)
        new.totals = manifest.totals

        try tail.readUntilFewAreLeft()
        if tail.count > CompactionTail.entriesUnderLock {
            let batch = try tail.batch(on: &new)
            let payload = try new.treePayload(batch, into: checkpoint.store)
            try checkpoint.store.write(payload.bytes, at: payload.offset)
            tree = (payload, batch.totals)
            new.minor = RecordIndex.Tree(
                header: old.origin.authenticator, root: payload.root, entries: payload.entries)
            new.totals = batch.totals
            tail.forgetEntries()
        }
        self.new = new
    }

    /// Reads what was written while the new file was flushed, and what it replaces there, so that little of it is left
    /// to be done under the lock.
    mutating func prepareLastRecords() throws(LogError) {
        try tail.readUntilFewAreLeft()
        try tail.findReplaced(on: &new)
    }

    /// Reads the rest, while nobody can write. Returns false if a minor checkpoint is left.
    ///
    /// - Parameter isHurried: whether to leave it, since it takes long to read.
    /// - Throws: `conflict` if this is not the history that was copied: its end was taken back.
    mutating func readLastRecords(upTo current: LogView, isHurried: Bool) throws(LogError) -> Bool {
        _ = try tail.read(isHurried: isHurried)
        guard tail.position != current.head else { return true }
        guard isHurried else { throw LogError(.conflict) }
        return false
    }

    /// Continues the chain after the old file's last record.
    mutating func finish(after notice: Record, slots: [KeySlot]) throws(LogError) {
        guard let reserved, let provisional = new else { return }
        manifest.chain += tail.chain
        manifest.chain = Array((manifest.chain + [notice.authenticator]).suffix(chainLength))
        let sequence = notice.index.sequence + 1
        guard sequence < Limits.sequence else { throw LogError(.invalid, "the vault has used up its sequence numbers") }
        let (store, keys) = (checkpoint.store, old.keys)
        try checkpoint.write(manifest, reserved)
        let header = Header(
            vaultID: old.header.vaultID, sequence: sequence, root: reserved.root, manifest: reserved.manifest,
            checkpointEnd: reserved.end, slots: slots)
        let image = try header.sealed(with: keys)
        var new = LogView(
            store: store, keys: keys, header: header, authenticator: try Header.authenticate(image, with: keys))
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
        try store.writeZeros(new.end..<(new.end / Limits.growth + 1) * Limits.growth)
        try store.write(image, at: 0)
        if let hint { try store.write(hint.encoded, at: UInt64(Header.hintOffset)) }
    }
}

/// Where the boxes of values are, and where they are in the new file.
private struct MovedBoxes {
    private struct Box {
        let offset: UInt64
        let length: UInt64
        var target: UInt64 = 0
    }

    /// In the order of their offsets, once they are copied.
    private var boxes: [Box] = []
    /// Boxes are read and written with system calls of about this size.
    private static let runSize: UInt64 = 1 << 20

    mutating func add(_ version: StoredVersion) {
        boxes.append(Box(offset: version.offset, length: UInt64(version.boxLength)))
    }

    /// Copies the boxes, neighbours together. One that several entries name is copied once.
    mutating func copy(
        from reader: RecordReader, to checkpoint: inout CheckpointWriter, _ counter: UpkeepProgress?
    ) throws(LogError) {
        boxes.sort { $0.offset < $1.offset }
        var index = 0
        while index < boxes.count {
            let start = boxes[index].offset
            let first = index
            var (end, target) = (start, checkpoint.offset)
            // As far as one follows the other.
            while index < boxes.count, boxes[index].offset <= end, end - start < MovedBoxes.runSize {
                let isSame = index > first && boxes[index].offset == boxes[index - 1].offset
                guard isSame || boxes[index].offset == end else { break }
                boxes[index].target = isSame ? boxes[index - 1].target : target
                if !isSame { (end, target) = (end + boxes[index].length, target + boxes[index].length) }
                index += 1
            }
            // A box within another: no writer leaves that behind.
            guard index > first else { throw LogError.damaged("a value", at: start) }
            _ = try checkpoint.write(value: try reader.store.bytes(at: start, count: Int(end - start)))
            counter?.advance(by: end - start)
        }
    }

    /// Returns the place of a box in the new file; nil if it was not copied.
    func target(of version: StoredVersion) -> UInt64? {
        let found = binarySearch(boxes.count) { index in
            boxes[index].offset == version.offset ? 0 : boxes[index].offset < version.offset ? -1 : 1
        }
        guard found.isExact, boxes[found.index].length == UInt64(version.boxLength) else { return nil }
        return boxes[found.index].target
    }
}

extension StoredVersion {
    fileprivate mutating func move(to boxes: MovedBoxes) throws(LogError) {
        guard let target = boxes.target(of: self) else { throw LogError.damaged("a value", at: offset) }
        offset = target
    }
}

extension LogView {
    /// Reads and authenticates all records, with their payloads, and passes them to `body`.
    func forEachRecord(_ counter: UpkeepProgress?, _ body: (Record) throws(LogError) -> Void) throws(LogError) {
        var reader = reader
        var (position, offset) = (origin, header.checkpointEnd)
        while offset < end {
            guard case .record(let record) = try reader.record(at: offset, after: position) else {
                throw LogError.damaged("a record", at: offset)
            }
            guard try reader.payloadHolds(record) else { throw LogError.damaged("a payload", at: offset) }
            try body(record)
            (position, offset) = (record.position, record.end)
            counter?.advance(by: record.frame.recordLength)
        }
    }
}
