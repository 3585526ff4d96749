package import Sealing

/// A sealed value that has no offset yet.
package struct SealedValue: Sendable {
    let nonce: Nonce
    let length: Int
    let box: [UInt8]
    let kind: UInt8
}

/// One change that a transaction makes, or one condition that it depends on.
package struct Change: Sendable {
    /// The state that the name must have when the transaction is written. Otherwise this transaction fails, and no
    /// other.
    package enum Expectation: Sendable {
        case anything
        /// Error `exists` otherwise.
        case absent
        /// As it was when it was read: the nonce of its value, nil for none. Error `conflict` otherwise.
        case unchanged(Nonce?)
    }

    package enum Action: Sendable {
        /// nil keeps the entry's attributes.
        case set(SealedValue, attributes: [Attribute]?)
        case remove
        /// Changes nothing.
        case rely
    }

    package let name: EntryName
    package let expectation: Expectation
    package let action: Action

    package init(_ name: EntryName, _ expectation: Expectation, _ action: Action) {
        self.name = name
        self.expectation = expectation
        self.action = action
    }
}

/// Collects the transactions of one record.
///
/// The offset of the payload is known only when the index is complete. Until then, entries have offsets relative to it.
struct TransactionBatch: Sendable {
    private(set) var payload: [UInt8] = []
    private(set) var transactions: [[Entry]] = []
    private(set) var totals: Totals
    /// The bytes that these transactions add to the file, without pages.
    private var size: UInt64 = 0
    /// The entries that these transactions have set, by name.
    private(set) var recent = RecentEntries()

    init(totals: Totals) {
        self.totals = totals
    }

    var isEmpty: Bool { transactions.isEmpty }

    /// Adds a transaction, all of it or nothing.
    ///
    /// - Parameter find: returns the newest entry of a name in the log.
    /// - Returns: false if the record has no room for it. It must be added to another record then.
    /// - Throws: `conflict`, `exists` or `invalid` if this transaction fails; or what `find` throws.
    mutating func add(
        _ changes: [Change], now: UInt64, find: (EntryName) throws(LogError) -> Entry?
    ) throws(LogError) -> Bool {
        var own = RecentEntries()
        var entries: [Entry] = []
        var boxes: [[UInt8]] = []
        var offset = payload.count
        var added: UInt64 = 0
        var totals = totals
        for change in changes {
            let old: Entry?
            if let entry = own.find(change.name) ?? recent.find(change.name) {
                old = entry
            } else {
                old = try find(change.name)
            }
            try change.expectation.check(old)
            guard let entry = try change.entry(replacing: old, at: UInt64(offset), now: now) else { continue }
            totals.replace(old, with: entry)
            added += entry.footprint
            own.insert(entry)
            entries.append(entry)
            guard case .set(let value, _) = change.action else { continue }
            boxes.append(value.box)
            offset += value.box.count
        }
        guard added <= Limits.transactionSize else {
            throw LogError(.invalid, "a transaction may add at most \(Limits.transactionSize >> 20) MiB")
        }
        guard !entries.isEmpty else { return true }
        guard isEmpty || size + added <= Limits.transactionSize else { return false }
        size += added
        payload.reserveCapacity(offset)
        for box in boxes { payload.append(contentsOf: box) }
        for entry in entries { recent.insert(entry) }
        transactions.append(entries)
        self.totals = totals
        return true
    }
}

extension Change {
    /// Returns the entry that this change results in; nil if it changes nothing.
    ///
    /// - Throws: `invalid` for attributes that are too large.
    fileprivate func entry(replacing old: Entry?, at offset: UInt64, now: UInt64) throws(LogError) -> Entry? {
        switch action {
        case .rely: return nil
        case .remove:
            guard let old, !old.isRemoved else { return nil }
            return Entry(name: name, modified: now, content: nil)
        case .set(let value, let attributes):
            let current = StoredVersion(kind: value.kind, nonce: value.nonce, offset: offset, length: value.length)
            let content = Entry.Content(
                created: old?.content?.created ?? now, current: current,
                attributes: attributes ?? old?.content?.attributes ?? [])
            let entry = Entry(name: name, modified: now, content: content)
            // Its final offset may take a few more bytes.
            guard entry.footprint - UInt64(current.boxLength) <= UInt64(Limits.entrySize - 16) else {
                throw LogError(.invalid, "the attributes of one entry may take about \(Limits.entrySize) bytes")
            }
            return entry
        }
    }
}

extension Change.Expectation {
    fileprivate func check(_ entry: Entry?) throws(LogError) {
        switch self {
        case .anything: return
        case .absent:
            guard entry?.content != nil else { return }
            throw LogError(.exists)
        case .unchanged(let nonce):
            guard entry?.content?.current.nonce == nonce else { throw LogError(.conflict) }
        }
    }
}

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
