import Sealing

extension LogView {
    /// Returns an index that continues the chain.
    private func nextIndex(_ totals: Totals) -> RecordIndex {
        RecordIndex(
            sequence: head.sequence + 1, previous: head.authenticator,
            payloadHash: [UInt8](repeating: 0, count: KeyedHash.size), totals: totals)
    }

    /// Plans the record for a batch. Its entries are in the index, or in a tree if they are many or enough records have
    /// been written since the last tree.
    func plan(_ batch: TransactionBatch) throws(LogError) -> RecordPlan {
        if recordsSinceMinor < recordsBeforeMinor, let plan = try inlinePlan(batch) { return plan }
        return try treePlan(batch)
    }

    private var recordsBeforeMinor: Int {
        let bounds = Limits.recordsBeforeMinorCheckpoint
        let wanted = (minor?.entries ?? 0) / Limits.minorEntriesPerRecord
        return max(bounds.lowerBound, Int(min(wanted, UInt64(bounds.upperBound))))
    }

    /// Plans a record that announces that a compacted file is about to replace this one.
    func noticePlan() throws(LogError) -> RecordPlan {
        var index = nextIndex(try currentTotals())
        index.isNotice = true
        return try RecordPlan(index, payload: [], at: end, keys: keys, vaultID: header.vaultID)
    }

    /// Plans a record with its entries in the index; nil if the index would be too large.
    private func inlinePlan(_ batch: TransactionBatch) throws(LogError) -> RecordPlan? {
        // The encoding of an offset varies in length, and the offset depends on the length of the index: the guess
        // grows until it fits.
        var size = 0
        while size <= Limits.inlineIndexSize {
            var index = nextIndex(batch.totals)
            let payloadOffset = end + UInt64(Frame.headSize + size + SecretBox.tagSize)
            index.transactions = batch.transactions.map { $0.map { $0.moved(by: payloadOffset) } }
            let needed = index.encoded.count
            guard needed > size else {
                return try RecordPlan(
                    index, payload: batch.payload, at: end, indexSize: size, keys: keys, vaultID: header.vaultID)
            }
            size = needed
        }
        return nil
    }

    /// Plans a minor checkpoint that contains the batch's entries.
    private func treePlan(_ batch: TransactionBatch) throws(LogError) -> RecordPlan {
        // The greatest length of an index with a tree.
        let size = 160
        let payloadOffset = end + UInt64(Frame.headSize + size + SecretBox.tagSize)
        var sink = PayloadSink(bytes: batch.payload, start: payloadOffset)
        var newer = RecentEntries()
        for entries in batch.transactions {
            for entry in entries { newer.insert(entry.moved(by: payloadOffset)) }
        }
        var merge = EntryMerge(
            recent: [newer, recent], trees: [try TreeCursor(root: minor?.root, loader: loader)])
        var tree = TreeBuilder(keys: keys, expecting: newer.count)
        while let entry = try merge.next() { try tree.add(entry, to: &sink) }
        guard let root = try tree.finish(to: &sink) else { throw LogError(.invalid, "nothing to write") }
        guard sink.bytes.count < Limits.payloadSize else {
            throw LogError(.invalid, "with what is recent it takes more than \(Limits.payloadSize >> 20) MiB")
        }
        var totals = batch.totals
        if let minor { totals.deadBytes &+= minor.entries &* 64 }
        var index = nextIndex(totals)
        index.tree = RecordIndex.Tree(header: origin.authenticator, root: root, entries: tree.count)
        return try RecordPlan(
            index, payload: sink.bytes, at: end, indexSize: size, keys: keys, vaultID: header.vaultID)
    }
}

/// A payload that grows in memory.
private struct PayloadSink: ByteSink {
    var bytes: [UInt8]
    let start: UInt64

    var offset: UInt64 { start + UInt64(bytes.count) }

    mutating func write(_ more: UnsafeRawBufferPointer) throws(LogError) {
        bytes.append(contentsOf: more)
    }
}
