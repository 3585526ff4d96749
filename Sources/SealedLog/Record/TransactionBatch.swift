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
