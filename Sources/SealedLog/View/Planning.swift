import LinuxSystem
import Sealing

extension LogView {
    func currentTotals() throws(LogError) -> Totals { if let totals { totals } else { try manifest().totals } }

    /// Whether compaction is due because of the file's share of dead bytes or the size of the minor checkpoint.
    var isCompactionDue: Bool {
        guard let totals else { return false }
        if let minor, minor.entries > Limits.minorEntriesFloor, minor.entries > totals.entries / 16 { return true }
        return minorSize > Limits.minorSize
            || totals.deadBytes > store.deadBytesFloor && totals.deadBytes > totals.liveBytes / 2
    }

    /// Plans a record announcing that a compacted file is about to replace this one.
    func noticePlan() throws(LogError) -> RecordPlan {
        var index = nextIndex(try currentTotals())
        index.isNotice = true
        return try plan(index, [])
    }

    /// Plans a record whose index contains a batch's entries. Returns nil if the record needs a tree instead, because
    /// the batch is too large or enough records have followed the last tree.
    func shortPlan(_ batch: TransactionBatch) throws(LogError) -> RecordPlan? {
        let bounds = Limits.recordsBeforeMinorCheckpoint
        let wanted = min((minor?.entries ?? 0) / Limits.minorEntriesPerRecord, UInt64(bounds.upperBound))
        guard recordsSinceMinor < max(bounds.lowerBound, Int(wanted)) else { return nil }
        return try inlinePlan(batch)
    }

    /// Plans a record that contains a batch's entries in its index; nil if the index would be larger than `limit`.
    func inlinePlan(
        _ batch: TransactionBatch, upTo limit: Int = Limits.inlineIndexSize
    ) throws(LogError) -> RecordPlan? {
        // Each offset's encoded size depends on the payload's offset, and thus on the index's size. So the estimate
        // grows until the index fits. The first one assumes short offsets, without the marks of file offsets.
        var size = (batch.entries.byteCount - batch.storedCount * Entry.storedMarkSize + 96) & ~15
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

    /// Plans a record that contains a batch's entries in a tree.
    ///
    /// - Parameter store: the store to which a large payload is written while it is built; nil to build it in memory.
    func treePlan(_ batch: TransactionBatch, into store: (any RecordStore)?) throws(LogError) -> RecordPlan {
        try plan(treePayload(batch, into: store), totals: batch.totals)
    }

    private var treeIndexSize: Int { 160 + (header.name == nil ? 0 : BoundName.markSize) }

    struct TreePayload {
        /// The part of the payload that is not yet in the store: all of it, or only its first sector. The first sector
        /// is written together with the record's head, because zeros in the sector identify a torn record.
        var bytes: [UInt8]
        let offset: UInt64
        let length: Int
        let hash: [UInt8]
        let root: PageReference
        let entries: UInt64
    }

    /// Builds a payload from a batch's values and a tree's pages. It does not depend on the record's log position.
    func treePayload(_ batch: TransactionBatch, into store: (any RecordStore)?) throws(LogError) -> TreePayload {
        let start = payloadOffset(indexSize: treeIndexSize)
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
            let limit = Limits.payloadSize >> 20
            throw LogError(.invalid, "this change and the recent entries together would exceed \(limit) MiB")
        }
        let (bytes, hash) = try sink.finishPayload()
        return TreePayload(bytes: bytes, offset: start, length: length, hash: hash, root: root, entries: tree.count)
    }

    func plan(_ payload: TreePayload, totals: Totals) throws(LogError) -> RecordPlan {
        var index = nextIndex(totals)
        if let minor { index.totals.deadBytes &+= minor.entries &* 64 }
        index.tree = RecordIndex.Tree(header: origin.authenticator, root: payload.root, entries: payload.entries)
        index.payloadHash = payload.hash
        return try RecordPlan(
            index, payloadLength: payload.length, at: end, indexSize: treeIndexSize, keys: keys,
            vaultID: header.vaultID, payload.bytes)
    }

    private func nextIndex(_ totals: Totals) -> RecordIndex {
        RecordIndex(
            sequence: head.sequence + 1, previous: head.authenticator,
            payloadHash: [UInt8](repeating: 0, count: KeyedHash.size), totals: totals, name: header.name?.mark)
    }

    private func payloadOffset(indexSize: Int) -> UInt64 {
        end + UInt64(Frame.headSize + indexSize + SecretBox.tagSize)
    }

    private func plan(_ index: RecordIndex, _ payload: [UInt8], indexSize: Int? = nil) throws(LogError) -> RecordPlan {
        try RecordPlan(index, payload: payload, at: end, indexSize: indexSize, keys: keys, vaultID: header.vaultID)
    }
}

/// A vault's newest position, as read from the rollback memory. Decoding it requires the vault's keys.
struct Remembered: Sendable {
    private let memory: RollbackMemory
    let bytes: [UInt8]

    /// Reads the newest position from the rollback memory without decoding it. Returns nil if none is stored.
    init?(_ memory: RollbackMemory) {
        guard let bytes = memory.newest() else { return nil }
        self.memory = memory
        self.bytes = bytes
    }

    /// Returns the newest remembered log position, given a view of the vault that was opened after the memory was read.
    /// Returns nil for a view of pending changes, since the memory describes the vault into which they will be merged.
    /// Throws `rolledBack` if the vault has never had the data key under which the position was stored.
    func seen(of view: LogView) throws(LogError) -> RollbackMemory.Seen? {
        guard view.store.target == nil else { return nil }
        return try seen(under: view.keys) { () throws(LogError) in try view.manifest().formerMemoryKeys }
    }

    /// Returns the newest remembered position, using the vault's keys or the memory subkeys of its former data keys.
    func seen(
        under keys: KeyRing, _ formerKeys: () throws(LogError) -> [[UInt8]]
    ) throws(LogError) -> RollbackMemory.Seen? { try memory.seen(in: bytes, under: keys, formerKeys) }

    func position(of view: LogView) throws(LogError) -> LogPosition? { try seen(of: view)?.position }
}
