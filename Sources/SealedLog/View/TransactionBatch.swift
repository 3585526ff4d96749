import LinuxSystem
import Sealing

extension Change {
    /// The data that a change needs, in addition to the old entry, to compute the new entry.
    fileprivate struct Context {
        let circumstances: Circumstances
        /// Whether the old entry was set earlier in this same transaction. If so, no reader ever sees its value.
        let isOwn: Bool
        /// The attribute that every new value keeps. See ``ChangeList/keptAttribute`` and ``ChangeList/keptValues``.
        let kept: (key: String?, value: String?)
        /// The offset of the next box, relative to the payload's start.
        let offset: UInt64
    }

    /// Returns the resulting entry; nil if the change has no effect. Throws if `old` does not meet the expectation.
    ///
    /// - Parameters:
    ///   - began: returns the time of the vault's creation.
    ///   - find: finds the value of an earlier version.
    fileprivate func entry(
        replacing old: Entry?, _ context: Context, began: () throws(LogError) -> UInt64,
        value find: (StoredVersion) throws(LogError) -> SealedValue
    ) throws(LogError) -> Entry? {
        let now = context.circumstances.now
        let present = old?.present(at: now)
        try expectation.check(present)
        let modified =
            switch old {
            case nil: now
            case let old? where context.isOwn: max(now, old.modified)
            case let old?: try TimeLimit.following(old.modified, at: now, vaultFrom: began)
            }
        let created = present?.created ?? modified
        switch action {
        // Removing an expired value also has an effect, since the value moves to the history.
        case .remove:
            let hasNothingToForget = !forgets || old?.earlier.isEmpty ?? true
            return try old?.isRemoved ?? true && hasNothingToForget ? nil : following(old, nil, modified, nil, context)
        case .set(let value, let attributes, let expiry):
            var current = value.version
            current.offset = context.offset
            // A new value keeps the old value's fixed attribute (`context.kept`), even if the old value has expired.
            let attributes = try (attributes ?? present?.attributes ?? [])
                .keeping(context.kept.key, [old?.content?.attributes ?? []])
            let content = Entry.Content(created: created, current: current, expiry: expiry, attributes: attributes)
            return try following(old, content, modified, value, context)
        case .restore(let opened):
            guard let old, let number = old.earlier.firstIndex(where: { $0.version.nonce == opened.nonce }) else {
                throw LogError(.conflict)
            }
            let earlier = old.earlier[number]
            // If the earlier value's expiry has passed, the value is restored without an expiry.
            let expiry = earlier.expiry.flatMap { $0 > now ? $0 : nil }
            let attributes = try earlier.attributes.keeping(
                context.kept.key, old.attributes(sinceEarlier: number), or: context.kept.value)
            let content = Entry.Content(
                created: created, current: earlier.version, expiry: expiry, attributes: attributes)
            let value = if context.circumstances.signer == nil { SealedValue?.none } else { try find(earlier.version) }
            return try following(old, content, modified, value, context)
        }
    }

    private func following(
        _ old: Entry?, _ content: Entry.Content?, _ modified: UInt64, _ value: SealedValue?, _ context: Context
    ) throws(LogError) -> Entry {
        var entry = Entry(
            name: name, modified: modified, sequence: context.circumstances.sequence, content: content,
            forgotten: old?.forgotten)
        entry.authorship = try context.circumstances.signer?.authorship(of: entry, value)
        if let old, forgets {
            // After a merge, other copies forget the history up to `forgotten`: the time of the newest state that they
            // may have, which is the old state, or an earlier one if this transaction has set the old one. A time in
            // the future is not used, because other copies would then also forget states that are set later.
            let state = context.isOwn ? old.earlier.first?.modified ?? old.forgotten : old.modified
            let isPossible = TimeLimit(at: modified).isPossible(state ?? 0)
            entry.forgotten = isPossible ? state : modified
        } else if let old {
            entry.earlier = old.earlier
            entry.joined = old.joined
            if let former = old.content, !context.isOwn {
                let version = EarlierVersion(
                    modified: old.modified, version: former.current, expiry: former.expiry,
                    attributes: former.attributes, authorship: old.authorship)
                entry.earlier.insert(version, at: 0)
            }
            entry.earlier.removeAll { $0.version.nonce == content?.current.nonce }
            let now = context.circumstances.retentionTime ?? context.circumstances.now
            entry.dropHistory(beyond: context.circumstances.history, now: now)
        }
        entry.dropHistoryBeyondEntrySize()
        try entry.checkSize()
        return entry
    }
}

extension Entry {
    /// Returns the attributes of the current state and of those between it and the earlier version `number`, newest
    /// first. Omits earlier states set since `created`, the time when the name last changed from no value to one.
    package func attributes(sinceEarlier number: Int) -> [[Attribute]] {
        let start = content?.created ?? .max
        // An earlier state dated after the current one is kept: a clock was wrong, so it may predate `created`.
        return [content?.attributes ?? []]
            + earlier[..<number].filter { $0.modified < start || $0.modified > modified }.map(\.attributes)
    }
}

extension [Attribute] {
    /// Returns these attributes with a fixed value for `key`. The value comes from the first of `states` that has the
    /// key. If no state has it, these attributes keep their own value or, if they have none, get the value `other`.
    ///
    /// - Throws: `invalid` if these attributes have a different value for the key, or no room for another attribute.
    func keeping(_ key: String?, _ states: [[Attribute]], or other: String? = nil) throws(LogError) -> [Attribute] {
        guard let key else { return self }
        let own = value(of: key)
        let former = states.lazy.compactMap { $0.value(of: key) }.first
        guard let kept = former ?? own ?? other, kept != own else { return self }
        guard own == nil else {
            throw LogError(.invalid, "the new value has a different \(key), but this name's \(key) is fixed")
        }
        let others = filter { $0.key != key }
        guard others.count < Limits.attributeCount else {
            throw LogError(
                .invalid, "an entry may have at most \(Limits.attributeCount) attributes, including the fixed \(key)")
        }
        return (others + [Attribute(key: key, value: kept)])
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}

/// The properties that all entries of a record share, such as its sequence number and the signer.
struct Circumstances: Sendable {
    let now: UInt64
    let sequence: UInt64
    let history: KeptHistory
    /// The signer of the entries' states; nil if the vault does not sign them.
    var signer: StateSigner?
    /// The time used to decide which history is too old; nil means ``now``.
    var retentionTime: UInt64?
}

/// Transactions that are written as one record. Their entries' offsets are relative to the payload, because the
/// payload's offset is known only when the index is complete.
struct TransactionBatch: Sendable {
    /// The inserted entries in the order of the transactions.
    private(set) var entries = RecentEntries()
    /// For each transaction, the number of entries in this and all earlier transactions of the batch.
    private var ends: [Int] = []
    /// The boxes of the batch's values, in order. Each array contains one or more boxes.
    private(set) var boxes: [[UInt8]] = []
    private(set) var payloadSize = 0
    /// The number of versions in the batch's entries that were already in the file before this batch.
    private(set) var storedCount = 0
    private(set) var totals: Totals
    /// The number of bytes that these transactions add to the file, excluding pages.
    private var size: UInt64 = 0

    init(totals: Totals) { self.totals = totals }

    var isEmpty: Bool { ends.isEmpty }
    var payload: [UInt8] { boxes.count == 1 ? boxes[0] : boxes.flatMap { $0 } }

    var transactions: [[Entry]] { zip([0] + ends, ends).map { ($0..<$1).map(entries.inserted) } }

    /// Adds a transaction. Returns false if the transaction does not fit into this record and needs another record.
    ///
    /// - Parameters:
    ///   - began: returns the time of the vault's creation.
    ///   - value: finds the value of an earlier version. It is called only if changes are signed.
    /// - Throws: `conflict`, `exists` or `invalid` if this transaction fails; any error of `find` or `value`.
    mutating func add(
        _ changes: ChangeList, _ circumstances: Circumstances,
        began: () throws(LogError) -> UInt64 = { () throws(LogError) in 0 },
        find: (EntryName) throws(LogError) -> Entry?,
        value: (StoredVersion) throws(LogError) -> SealedValue = { (_) throws(LogError) in throw LogError(.conflict) }
    ) throws(LogError) -> Bool {
        let first = entries.insertedCount
        var stored = 0
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
        // If the batch is empty and no two changes have the same name, no change can find its name in the batch.
        let mayRepeat = !isEmpty || changes.cells.nameCount < changes.count
        for number in 0..<changes.count {
            let change = changes[number]
            let own = mayRepeat ? entries.number(of: change.name) : nil
            let old = if let own { entries.inserted(own) } else { try find(change.name)?.markedStored() }
            let context = Change.Context(
                circumstances: circumstances, isOwn: own.map { $0 >= first } ?? false,
                kept: (changes.keptAttribute, changes.keptValues[change.name]), offset: UInt64(offset))
            let new = try change.entry(replacing: old, context, began: began) { (version) throws(LogError) in
                // A version that this record itself adds is not in the file yet, so its value cannot be read.
                guard let version = version.stored else { throw LogError(.conflict) }
                return try value(version)
            }
            guard let entry = new else { continue }
            totals.replace(old, with: entry)
            added += UInt64(entry.sizeWithoutOffsets)
            entries.insert(entry)
            stored += entry.storedCount
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
        storedCount += stored
        size += added
        close(changes.boxes, totals)
        return true
    }

    /// Adds another file's entry as a separate transaction.
    ///
    /// - Parameters:
    ///   - boxes: the boxes of the entry's versions, the current one first; nil for versions that are already in this
    ///     file.
    ///   - old: the entry that this one replaces under the same name.
    mutating func move(_ entry: Entry, _ boxes: [[UInt8]?], replacing old: Entry?) {
        var entry = entry.markedStored()
        var rest = boxes[...]
        var offset = UInt64(payloadSize)
        entry.forEachVersion { version in
            guard let box = rest.popFirst() ?? nil else { return }
            version.offset = offset
            offset += UInt64(box.count)
        }
        entries.insert(entry)
        storedCount += entry.storedCount
        var totals = totals
        totals.replace(old, with: entry)
        close(boxes.compactMap { $0 }.flatMap { $0 }, totals)
    }

    /// Ends a transaction, which consists of the entries inserted since the previous one.
    private mutating func close(_ boxes: [UInt8], _ totals: Totals) {
        ends.append(entries.insertedCount)
        // Joins small boxes into one array. A compaction may have millions, and an array for each would be costly.
        if let last = self.boxes.indices.last, self.boxes[last].count + boxes.count <= 1 << 20 {
            self.boxes[last] += boxes
        } else {
            self.boxes.append(boxes)
        }
        payloadSize += boxes.count
        self.totals = totals
    }
}
