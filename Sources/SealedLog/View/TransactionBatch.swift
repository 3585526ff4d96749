import LinuxSystem
import Sealing

extension Change {
    /// What an entry that follows another one depends on.
    fileprivate struct Context {
        let circumstances: Circumstances
        /// Whether the entry before is of the same transaction: no reader ever sees its value.
        let isOwn: Bool
        /// An attribute that stays: see ``ChangeList/keptAttribute``, and ``ChangeList/keptValues``.
        let kept: (key: String?, value: String?)
        /// Where the payload's next box is, counted from its start.
        let offset: UInt64
    }

    /// Returns the entry that this results in, if the old one is as expected; nil if it changes nothing.
    ///
    /// - Parameters:
    ///   - began: returns when the vault was created.
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
        // An expired value is removed as well: it is history from then on.
        case .remove:
            let hasNothingToForget = !forgets || old?.earlier.isEmpty ?? true
            return try old?.isRemoved ?? true && hasNothingToForget ? nil : following(old, nil, modified, nil, context)
        case .set(let value, let attributes, let expiry):
            var current = value.version
            current.offset = context.offset
            // Also that of a value that has expired.
            let attributes = try (attributes ?? present?.attributes ?? [])
                .keeping(context.kept.key, [old?.content?.attributes ?? []])
            let content = Entry.Content(created: created, current: current, expiry: expiry, attributes: attributes)
            return try following(old, content, modified, value, context)
        case .restore(let opened):
            guard let old, let number = old.earlier.firstIndex(where: { $0.version.nonce == opened.nonce }) else {
                throw LogError(.conflict)
            }
            let earlier = old.earlier[number]
            // A value that has expired since is wanted back all the same.
            let expiry = earlier.expiry.flatMap { $0 > now ? $0 : nil }
            let attributes = try earlier.attributes.keeping(
                context.kept.key, old.attributes(sinceEarlier: number), or: context.kept.value)
            let content = Entry.Content(
                created: created, current: earlier.version, expiry: expiry, attributes: attributes)
            let value =
                if context.circumstances.signer == nil { SealedValue?.none } else { try find(earlier.version) }
            return try following(old, content, modified, value, context)
        }
    }

    /// Returns the entry with new content, and with what the old one had as its history.
    private func following(
        _ old: Entry?, _ content: Entry.Content?, _ modified: UInt64, _ value: SealedValue?, _ context: Context
    ) throws(LogError) -> Entry {
        var entry = Entry(
            name: name, modified: modified, sequence: context.circumstances.sequence, content: content,
            forgotten: old?.forgotten)
        entry.authorship = try context.circumstances.signer?.authorship(of: entry, value)
        if let old, forgets {
            // Copies have it from before, too. They never saw a state of the same transaction.
            // A time that no clock can have set yet would forget what others set until then.
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
    /// Returns the attributes of the states after an earlier version, as far as they count for it: those of the present
    /// state, which speak for all since the name was last absent, and those from before that.
    package func attributes(sinceEarlier number: Int) -> [[Attribute]] {
        let start = content?.created ?? .max
        // An earlier time that is later than this state's is from a wrong clock, and says nothing.
        return [content?.attributes ?? []]
            + earlier[..<number].filter { $0.modified < start || $0.modified > modified }.map(\.attributes)
    }
}

extension [Attribute] {
    /// Returns them with the value of a key that the newest of some states has which has one. If neither they nor a
    /// state have one, it is `other`.
    ///
    /// - Throws: `invalid` if they have another value than a state, or no room for it.
    func keeping(
        _ key: String?, _ states: [[Attribute]], or other: String? = nil
    ) throws(LogError) -> [Attribute] {
        guard let key else { return self }
        let (own, former) = (value(of: key), states.lazy.compactMap { $0.value(of: key) }.first)
        guard let kept = former ?? own ?? other, kept != own else { return self }
        guard own == nil else {
            throw LogError(.invalid, "the name keeps its \(key), and what is to be stored has another one")
        }
        let others = filter { $0.key != key }
        guard others.count < Limits.attributeCount else {
            throw LogError(
                .invalid, "an entry may have \(Limits.attributeCount) attributes, and the name keeps its \(key) too")
        }
        return (others + [Attribute(key: key, value: kept)])
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}

/// What the entries of a record have in common.
struct Circumstances: Sendable {
    let now: UInt64
    /// The record's number.
    let sequence: UInt64
    let history: KeptHistory
    /// nil if nobody signs.
    var signer: StateSigner?
    /// By which it is decided what is too old to be kept; nil: as ``now``.
    var retentionTime: UInt64?
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
    private(set) var storedCount = 0
    private(set) var totals: Totals
    /// The bytes that these transactions add to the file, without pages.
    private var size: UInt64 = 0

    init(totals: Totals) { self.totals = totals }

    var isEmpty: Bool { ends.isEmpty }
    var payload: [UInt8] { boxes.count == 1 ? boxes[0] : boxes.flatMap { $0 } }

    var transactions: [[Entry]] {
        zip([0] + ends, ends).map { ($0..<$1).map(entries.inserted) }
    }

    /// Adds a transaction, all of it or nothing.
    ///
    /// - Parameters:
    ///   - began: returns when the vault was created.
    ///   - value: finds that of an earlier version, if changes are signed.
    /// - Returns: false if the record has no room for it. It must be added to another record then.
    /// - Throws: `conflict`, `exists` or `invalid` if this transaction fails; or what `find` and `value` throw.
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
        // Of a single transaction that names each once, no earlier change is searched for.
        let mayRepeat = !isEmpty || changes.cells.nameCount < changes.count
        for number in 0..<changes.count {
            let change = changes[number]
            let own = mayRepeat ? entries.number(of: change.name) : nil
            let old = if let own { entries.inserted(own) } else { try find(change.name)?.markedStored() }
            let context = Change.Context(
                circumstances: circumstances, isOwn: own.map { $0 >= first } ?? false,
                kept: (changes.keptAttribute, changes.keptValues[change.name]), offset: UInt64(offset))
            let new = try change.entry(replacing: old, context, began: began) { (version) throws(LogError) in
                // One that came with this record is not there yet.
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

    /// Adds an entry as another file has it, as a transaction of its own.
    ///
    /// - Parameters:
    ///   - boxes: those of its versions, the present one first; nil for versions that are in this file already.
    ///   - old: the entry of that name that this one follows.
    mutating func move(_ entry: Entry, _ boxes: [[UInt8]?], replacing old: Entry?) {
        var (entry, rest) = (entry.markedStored(), boxes[...])
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
