import Sealing

/// Gathers the transactions that one record will hold.
///
/// Where the payload begins is known only once the index is: until then entries have their places relative to it.
struct TransactionBatch: Sendable {
    private(set) var payload: [UInt8] = []
    private(set) var transactions: [[Entry]] = []
    private(set) var totals: Totals
    /// What these transactions add to the file, in bytes, but for pages.
    private var size: UInt64 = 0
    /// What these transactions have set, by name.
    private(set) var recent = RecentEntries()

    init(totals: Totals) {
        self.totals = totals
    }

    var isEmpty: Bool { transactions.isEmpty }

    /// Takes a transaction up, all or nothing.
    ///
    /// - Parameter find: the newest entry of a name in the log.
    /// - Returns: false if there is no room for it beside those before; it goes into another record.
    /// - Throws: `conflict`, `exists` or `invalid`, of this transaction alone; or what `find` throws.
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
    /// The entry that this change makes; nil if it changes nothing.
    ///
    /// - Throws: `invalid` for attributes that take too much room.
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
            // The offset may still grow by a few digits.
            guard entry.footprint - UInt64(current.boxLength) <= UInt64(Limits.entrySize - 16) else {
                throw LogError(.invalid, "the attributes of one entry may take about \(Limits.entrySize) bytes")
            }
            return entry
        }
    }
}

extension Entry {
    /// The entry with its value `distance` further back in the file.
    func moved(by distance: UInt64) -> Entry {
        var entry = self
        entry.content?.current.offset += distance
        return entry
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
