import LinuxSystem
package import Sealing

/// A sealed value: read from the file, or without an offset yet.
package struct SealedValue: Sendable {
    let version: StoredVersion
    let box: [UInt8]
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
        /// Without attributes, the entry keeps its own. An expiry is not kept.
        case set(SealedValue, attributes: [Attribute]?, expiry: UInt64? = nil)
        case remove
        /// Changes nothing.
        case rely

        /// The value that is set, unless it has expired.
        package var presentValue: SealedValue? {
            guard case .set(let value, _, let expiry) = self else { return nil }
            return expiry.map { $0 <= Clock.milliseconds } ?? false ? nil : value
        }
    }

    package let name: EntryName
    package let expectation: Expectation
    package let action: Action

    package init(_ name: EntryName, _ expectation: Expectation, _ action: Action) {
        (self.name, self.expectation, self.action) = (name, expectation, action)
    }
}

extension Change {
    /// Returns the entry that this results in, if the old one is as expected; nil if it changes nothing.
    fileprivate func entry(replacing old: Entry?, at offset: Int, now: UInt64) throws(LogError) -> Entry? {
        let present = old?.present(at: now)
        switch expectation {
        case .absent where present != nil: throw LogError(.exists)
        case .unchanged(let nonce) where present?.current.nonce != nonce: throw LogError(.conflict)
        case .anything, .absent, .unchanged: break
        }
        switch action {
        case .rely: return nil
        // An expired value is removed as well: its bytes are dead from then on.
        case .remove: return old?.isRemoved ?? true ? nil : Entry(name: name, modified: now, content: nil)
        case .set(let value, let attributes, let expiry):
            var current = value.version
            current.offset = UInt64(offset)
            let content = Entry.Content(
                created: present?.created ?? now, current: current, expiry: expiry,
                attributes: attributes ?? present?.attributes ?? [])
            let entry = Entry(name: name, modified: now, content: content)
            // Its final offset may take a few more bytes.
            guard entry.footprint - UInt64(current.boxLength) <= UInt64(Limits.entrySize - 16) else {
                throw LogError(.invalid, "the attributes of one entry may take about \(Limits.entrySize) bytes")
            }
            return entry
        }
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
    private var recent = RecentEntries()

    init(totals: Totals) { self.totals = totals }

    var isEmpty: Bool { transactions.isEmpty }

    /// Adds a transaction, all of it or nothing.
    ///
    /// - Returns: false if the record has no room for it. It must be added to another record then.
    /// - Throws: `conflict`, `exists` or `invalid` if this transaction fails; or what `find` throws.
    mutating func add(
        _ changes: [Change], now: UInt64, find: (EntryName) throws(LogError) -> Entry?
    ) throws(LogError) -> Bool {
        var own = RecentEntries()
        var entries: [Entry] = []
        var offset = payload.count
        var added: UInt64 = 0
        var totals = totals
        for change in changes {
            let set = own.find(change.name) ?? recent.find(change.name)
            let old = if let set { set } else { try find(change.name) }
            guard let entry = try change.entry(replacing: old, at: offset, now: now) else { continue }
            totals.replace(old, with: entry)
            added += entry.footprint
            own.insert(entry)
            entries.append(entry)
            offset += entry.content?.current.boxLength ?? 0
        }
        guard added <= Limits.transactionSize else {
            throw LogError(.invalid, "a transaction may add at most \(Limits.transactionSize >> 20) MiB")
        }
        guard !entries.isEmpty else { return true }
        guard isEmpty || size + added <= Limits.transactionSize else { return false }
        size += added
        payload.reserveCapacity(offset)
        for case .set(let value, _, _) in changes.lazy.map(\.action) { payload.append(contentsOf: value.box) }
        for entry in entries { recent.insert(entry) }
        transactions.append(entries)
        self.totals = totals
        return true
    }
}

extension TransactionBatch {
    /// Adds an entry as another file has it, with the boxes of its versions, as a transaction of its own.
    ///
    /// - Parameter old: the entry of that name that this one follows.
    mutating func move(_ entry: Entry, _ boxes: [[UInt8]], replacing old: Entry?) {
        var entry = entry
        entry.place(boxes, from: UInt64(payload.count))
        for box in boxes { payload.append(contentsOf: box) }
        totals.replace(old, with: entry)
        transactions.append([entry])
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

    /// Plans the record for a batch. Its entries are in the index, or in a tree if they are many or enough records have
    /// been written since the last tree.
    func plan(_ batch: TransactionBatch) throws(LogError) -> RecordPlan {
        let bounds = Limits.recordsBeforeMinorCheckpoint
        let wanted = min((minor?.entries ?? 0) / Limits.minorEntriesPerRecord, UInt64(bounds.upperBound))
        if recordsSinceMinor < max(bounds.lowerBound, Int(wanted)), let plan = try inlinePlan(batch) { return plan }
        return try treePlan(batch)
    }

    /// Plans a record with its entries in the index; nil if the index would be larger than `limit`.
    func inlinePlan(
        _ batch: TransactionBatch, upTo limit: Int = Limits.inlineIndexSize
    ) throws(LogError) -> RecordPlan? {
        // The encoding of an offset varies in length, and the offset depends on the length of the index: the guess
        // grows until it fits. The first one has no room for offsets.
        let entries = batch.transactions.reduce(0) { $0 + $1.reduce(0) { $0 + $1.sizeWithoutOffsets } }
        var size = (entries + 96) & ~15
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

    private func treePlan(_ batch: TransactionBatch) throws(LogError) -> RecordPlan {
        let payload = try treePayload(batch)
        return try plan(treeIndex(batch.totals, payload), payload.bytes, indexSize: LogView.treeIndexSize)
    }

    /// The greatest length of an index with a tree.
    private static let treeIndexSize = 160

    /// The payload of a record with a tree.
    struct TreePayload {
        let bytes: [UInt8]
        let offset: UInt64
        let root: PageReference
        let entries: UInt64
    }

    /// Seals a batch's values and the pages of a tree, which know nothing of the record's place in the chain.
    func treePayload(_ batch: TransactionBatch) throws(LogError) -> TreePayload {
        var sink = ByteSink(bytes: batch.payload, start: payloadOffset(indexSize: LogView.treeIndexSize))
        let start = sink.start
        var newer = RecentEntries()
        for entry in batch.transactions.joined() { newer.insert(entry.moved(by: sink.start)) }
        var merge = EntryMerge(recent: [newer, recent], trees: [try TreeCursor(root: minor?.root, loader: loader)])
        var tree = TreeBuilder(keys: keys, expecting: newer.count)
        while let entry = try merge.next() { try tree.add(entry, to: &sink) }
        guard let root = try tree.finish(to: &sink) else { throw LogError(.invalid, "nothing to write") }
        guard sink.bytes.count < Limits.payloadSize else {
            throw LogError(.invalid, "with what is recent it takes more than \(Limits.payloadSize >> 20) MiB")
        }
        return TreePayload(bytes: sink.bytes, offset: start, root: root, entries: tree.count)
    }

    private func treeIndex(_ totals: Totals, _ payload: TreePayload) -> RecordIndex {
        var index = nextIndex(totals)
        if let minor { index.totals.deadBytes &+= minor.entries &* 64 }
        index.tree = RecordIndex.Tree(header: origin.authenticator, root: payload.root, entries: payload.entries)
        return index
    }

    /// Plans the record of a payload that is in its place already; its bytes are those before the payload.
    func plan(_ payload: TreePayload, hash: [UInt8], totals: Totals) throws(LogError) -> RecordPlan {
        var index = treeIndex(totals, payload)
        index.payloadHash = hash
        return try RecordPlan(
            index, payloadLength: payload.bytes.count, at: end, indexSize: LogView.treeIndexSize, keys: keys,
            vaultID: header.vaultID)
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
