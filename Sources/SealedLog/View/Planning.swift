import LinuxSystem
import Sealing

extension Change {
    /// What an entry that follows another one depends on.
    fileprivate struct Context {
        let circumstances: Circumstances
        /// Whether the entry before is of the same transaction: no reader ever sees its value.
        let isOwn: Bool
        /// Where the payload's next box is, counted from its start.
        let offset: UInt64
    }

    /// Returns the entry that this results in, if the old one is as expected; nil if it changes nothing.
    fileprivate func entry(replacing old: Entry?, _ context: Context) throws(LogError) -> Entry? {
        let now = context.circumstances.now
        let present = old?.present(at: now)
        try expectation.check(present)
        // Clocks differ, and go back: what follows is later all the same, also in the eyes of a merge. After the largest
        // number there is no later one.
        let modified = max(now, old.map { context.isOwn ? $0.modified : max($0.modified, $0.modified &+ 1) } ?? 0)
        let created = present?.created ?? modified
        switch action {
        // An expired value is removed as well: it is history from then on.
        case .remove:
            let hasNothingToForget = !forgets || old?.earlier.isEmpty ?? true
            return try old?.isRemoved ?? true && hasNothingToForget ? nil : following(old, nil, modified, context)
        case .set(let value, let attributes, let expiry):
            var current = value.version
            current.offset = context.offset
            let content = Entry.Content(
                created: created, current: current, expiry: expiry,
                attributes: attributes ?? present?.attributes ?? [])
            return try following(old, content, modified, context)
        case .restore(let nonce):
            guard let earlier = old?.earlier.first(where: { $0.version.nonce == nonce }) else {
                throw LogError(.conflict)
            }
            // A value that has expired since is wanted back all the same.
            let expiry = earlier.expiry.flatMap { $0 > now ? $0 : nil }
            let content = Entry.Content(
                created: created, current: earlier.version, expiry: expiry, attributes: earlier.attributes)
            return try following(old, content, modified, context)
        }
    }

    /// Returns the entry with new content, and with what the old one had as its history.
    private func following(
        _ old: Entry?, _ content: Entry.Content?, _ modified: UInt64, _ context: Context
    ) throws(LogError) -> Entry {
        var entry = Entry(
            name: name, modified: modified, sequence: context.circumstances.sequence, content: content,
            forgotten: old?.forgotten)
        if let old, forgets {
            // Copies have it from before, too. They never saw a state of the same transaction.
            entry.forgotten = context.isOwn ? old.earlier.first?.modified ?? old.forgotten : old.modified
        } else if let old {
            entry.earlier = old.earlier
            entry.joined = old.joined
            if let former = old.content, !context.isOwn {
                let version = EarlierVersion(
                    modified: old.modified, version: former.current, expiry: former.expiry,
                    attributes: former.attributes)
                entry.earlier.insert(version, at: 0)
            }
            entry.earlier.removeAll { $0.version.nonce == content?.current.nonce }
            entry.dropHistory(beyond: context.circumstances.history, now: context.circumstances.now)
        }
        entry.dropHistoryBeyondEntrySize()
        try entry.checkSize()
        return entry
    }
}

/// What the entries of a record have in common.
struct Circumstances: Sendable {
    let now: UInt64
    /// The record's number.
    let sequence: UInt64
    let history: KeptHistory
}

/// Collects the transactions of one record.
///
/// The offset of the payload is known only when the index is complete. Until then, entries have offsets relative to it.
struct TransactionBatch: Sendable {
    /// What was inserted, in the order of the transactions.
    private(set) var entries = RecentEntries()
    /// How many entries the transactions and those before them have.
    private var ends: [Int] = []
    /// The values in their order, in pieces.
    private(set) var boxes: [[UInt8]] = []
    private(set) var payloadSize = 0
    /// How many versions were in the file before.
    private(set) var settledCount = 0
    private(set) var totals: Totals
    /// The bytes that these transactions add to the file, without pages.
    private var size: UInt64 = 0

    init(totals: Totals) { self.totals = totals }

    var isEmpty: Bool { ends.isEmpty }
    var payload: [UInt8] { boxes.flatMap { $0 } }

    var transactions: [[Entry]] {
        zip([0] + ends, ends).map { ($0..<$1).map(entries.inserted) }
    }

    /// Adds a transaction, all of it or nothing.
    ///
    /// - Returns: false if the record has no room for it. It must be added to another record then.
    /// - Throws: `conflict`, `exists` or `invalid` if this transaction fails; or what `find` throws.
    mutating func add(
        _ changes: ChangeList, _ circumstances: Circumstances, find: (EntryName) throws(LogError) -> Entry?
    ) throws(LogError) -> Bool {
        let first = entries.insertedCount
        var settled = 0
        var isAdded = false
        defer { if !isAdded { entries.removeInserted(from: first) } }
        var offset = payloadSize
        var added: UInt64 = 0
        var totals = totals
        for (name, nonce) in changes.conditions {
            let old = if let own = entries.find(name) { own } else { try find(name) }
            try Change.Expectation.unchanged(nonce).check(old?.present(at: circumstances.now))
        }
        if isEmpty { entries.reserve(as: changes.cells) }
        // Of a single transaction that names each once, no earlier change is searched for.
        let mayRepeat = !isEmpty || changes.cells.nameCount < changes.count
        for number in 0..<changes.count {
            let change = changes[number]
            let own = mayRepeat ? entries.number(of: change.name) : nil
            let old = if let own { entries.inserted(own) } else { try find(change.name)?.settled() }
            let context = Change.Context(
                circumstances: circumstances, isOwn: own.map { $0 >= first } ?? false, offset: UInt64(offset))
            guard let entry = try change.entry(replacing: old, context) else { continue }
            totals.replace(old, with: entry)
            added += UInt64(entry.sizeWithoutOffsets)
            entries.insert(entry)
            settled += entry.settledCount
            guard case .set(let value, _, _) = change.action else { continue }
            offset += value.version.boxLength
            added += UInt64(value.version.boxLength)
        }
        guard added <= Limits.transactionSize else {
            throw LogError(.invalid, "a transaction may add at most \(Limits.transactionSize >> 20) MiB")
        }
        guard entries.insertedCount > first else { return true }
        guard isEmpty || size + added <= Limits.transactionSize else { return false }
        isAdded = true
        settledCount += settled
        size += added
        close(changes.boxes, totals)
        return true
    }

    /// Adds an entry as another file has it, as a transaction of its own.
    ///
    /// - Parameters:
    ///   - boxes: those of its versions, the present one first; nil for versions that are in this file already.
    ///   - old: the entry of that name that this one follows.
    mutating func move(_ entry: Entry, _ boxes: [[UInt8]?], replacing old: Entry?) {
        var (entry, rest) = (entry.settled(), boxes[...])
        var offset = UInt64(payloadSize)
        entry.forEachVersion { version in
            guard let box = rest.popFirst() ?? nil else { return }
            version.offset = offset
            offset += UInt64(box.count)
        }
        entries.insert(entry)
        settledCount += entry.settledCount
        var totals = totals
        totals.replace(old, with: entry)
        close(boxes.compactMap { $0 }.flatMap { $0 }, totals)
    }

    /// Makes a transaction of what was inserted last.
    private mutating func close(_ boxes: [UInt8], _ totals: Totals) {
        ends.append(entries.insertedCount)
        // A compaction may have millions of them, and an array takes as much as a small value.
        if let last = self.boxes.indices.last, self.boxes[last].count + boxes.count <= 1 << 20 {
            self.boxes[last] += boxes
        } else {
            self.boxes.append(boxes)
        }
        payloadSize += boxes.count
        self.totals = totals
    }
}

extension LogView {
    func currentTotals() throws(LogError) -> Totals { if let totals { totals } else { try manifest().totals } }

    /// Whether dead bytes or the minor checkpoint have grown beyond their share of the file.
    var isCompactionDue: Bool {
        guard let totals else { return false }
        if let minor, minor.entries > Limits.minorEntriesFloor, minor.entries > totals.entries / 16 { return true }
        return minorSize > Limits.minorSize
            || totals.deadBytes > Limits.deadBytesFloor && totals.deadBytes > totals.liveBytes / 2
    }

    /// Plans a record that announces that a compacted file is about to replace this one.
    func noticePlan() throws(LogError) -> RecordPlan {
        var index = nextIndex(try currentTotals())
        index.isNotice = true
        return try plan(index, [])
    }

    /// Plans the record for a batch, with its entries in the index; nil if it takes a tree, since they are many or
    /// enough records have been written since the last tree.
    func shortPlan(_ batch: TransactionBatch) throws(LogError) -> RecordPlan? {
        let bounds = Limits.recordsBeforeMinorCheckpoint
        let wanted = min((minor?.entries ?? 0) / Limits.minorEntriesPerRecord, UInt64(bounds.upperBound))
        guard recordsSinceMinor < max(bounds.lowerBound, Int(wanted)) else { return nil }
        return try inlinePlan(batch)
    }

    /// Plans a record with its entries in the index; nil if the index would be larger than `limit`.
    func inlinePlan(
        _ batch: TransactionBatch, upTo limit: Int = Limits.inlineIndexSize
    ) throws(LogError) -> RecordPlan? {
        // The encoding of an offset varies in length, and the offset depends on the length of the index: the guess
        // grows until it fits. The first one has no room for longer offsets, and settled ones become shorter.
        var size = (batch.entries.byteCount - batch.settledCount * Entry.settledExcess + 96) & ~15
        while size <= limit {
            var index = nextIndex(batch.totals)
            let start = payloadOffset(indexSize: size)
            index.transactions = batch.transactions.map { $0.map { $0.moved(by: start) } }
            let needed = index.encoded.count
            if needed <= size { return try plan(index, batch.payload, indexSize: size) }
            size = needed
        }
        return nil
    }

    /// Plans the record for a batch, with a tree.
    ///
    /// - Parameter store: where a large payload is written on the way; nil: it stays in memory.
    func treePlan(_ batch: TransactionBatch, into store: (any RecordStore)?) throws(LogError) -> RecordPlan {
        try plan(treePayload(batch, into: store), totals: batch.totals)
    }

    /// The greatest length of an index with a tree.
    private static let treeIndexSize = 160

    /// The payload of a record with a tree.
    struct TreePayload {
        /// What is not in the store: all of it, or its share of the sector in which it begins. A torn record shows by a
        /// sector of zeros, so that share is written together with the record's head.
        let bytes: [UInt8]
        let offset: UInt64
        let length: Int
        let hash: [UInt8]
        let root: PageReference
        let entries: UInt64
    }

    /// Seals a batch's values and the pages of a tree, which know nothing of the record's place in the chain.
    func treePayload(
        _ batch: TransactionBatch, into store: (any RecordStore)?
    ) throws(LogError) -> TreePayload {
        let start = payloadOffset(indexSize: LogView.treeIndexSize)
        var sink = ByteSink(payloadAt: start, in: store)
        for boxes in batch.boxes { try sink.write(boxes) }
        var merge = EntryMerge(
            recent: [batch.entries.cursor(movedBy: start), recent.cursor()],
            trees: [try TreeCursor(root: minor?.root, loader: loader)])
        var tree = TreeBuilder(keys: keys)
        while let entry = try merge.next() { try tree.add(entry, to: &sink) }
        guard let root = try tree.finish(to: &sink) else { throw LogError(.invalid, "nothing to write") }
        let length = Int(sink.offset - start)
        guard length < Limits.payloadSize else {
            throw LogError(.invalid, "with what is recent it takes more than \(Limits.payloadSize >> 20) MiB")
        }
        let (bytes, hash) = try sink.finishPayload()
        return TreePayload(bytes: bytes, offset: start, length: length, hash: hash, root: root, entries: tree.count)
    }

    /// Plans the record of a payload with a tree.
    func plan(_ payload: TreePayload, totals: Totals) throws(LogError) -> RecordPlan {
        var index = nextIndex(totals)
        if let minor { index.totals.deadBytes &+= minor.entries &* 64 }
        index.tree = RecordIndex.Tree(header: origin.authenticator, root: payload.root, entries: payload.entries)
        index.payloadHash = payload.hash
        return try RecordPlan(
            index, payloadLength: payload.length, at: end, indexSize: LogView.treeIndexSize, keys: keys,
            vaultID: header.vaultID, payload.bytes)
    }

    private func nextIndex(_ totals: Totals) -> RecordIndex {
        RecordIndex(
            sequence: head.sequence + 1, previous: head.authenticator,
            payloadHash: [UInt8](repeating: 0, count: KeyedHash.size), totals: totals)
    }

    private func payloadOffset(indexSize: Int) -> UInt64 {
        end + UInt64(Frame.headSize + indexSize + SecretBox.tagSize)
    }

    private func plan(_ index: RecordIndex, _ payload: [UInt8], indexSize: Int? = nil) throws(LogError) -> RecordPlan {
        try RecordPlan(index, payload: payload, at: end, indexSize: indexSize, keys: keys, vaultID: header.vaultID)
    }
}
