/// The newest entry found for each name, and the extent to which it can be trusted.
///
/// Every entry is authentic, but a newer one may be lost. Therefore each entry has a *standing*: the sequence number up
/// to which it is known to be the newest. A loss may hide changes to a range of names, up to some sequence number.
struct SalvagedHistory {
    typealias Found = (entry: Entry, standing: UInt64)

    private var newest: [EntryName: Found] = [:]
    private(set) var damage: [String]
    private var losses: [(names: NameRange, sequence: UInt64)] = []
    /// Whether pages or changes may be lost (even if only outdated ones), or values may be forged.
    private(set) var hasGaps = false
    /// The names whose value shares a nonce with another value. Anyone who knew one value could have forged the other.
    private var forgeable: Set<EntryName> = []

    private let remains: HeaderRemains
    private let records: [Record]
    /// The indices of the records at which the chain is broken: they do not refer to the record before them.
    private let breaks: [Int]

    init(
        _ remains: HeaderRemains, _ manifest: Manifest?, _ memory: RollbackMemory?, _ counter: UpkeepProgress?
    ) throws(LogError) {
        self.remains = remains
        damage = remains.damage
        let (seen, isOfFormerKey) = try SalvagedHistory.seen(memory, by: remains.view.keys, manifest)
        let start = remains.isAuthentic ? remains.view.header.checkpointEnd : Limits.checkpointStart
        var scan = try RecordScan(of: remains.view, from: start, counter)
        let foreign = try scan.classifyEnd()
        let found = scan.records.filter { record in
            !remains.isAuthentic || record.index.tree.map { $0.header == remains.view.origin.authenticator } ?? true
        }
        let chained = SalvagedHistory.chain(found, after: remains.origin)
        records = chained.records
        breaks = chained.breaks
        if !remains.isAuthentic { lose() }
        if isOfFormerKey { lose("this machine has seen this vault under another data key, after a rotation") }
        if let doubt = remains.doubt { lose(doubt) }
        // If the header is not authentic, it may point to an outdated manifest, so its manifest is not used.
        let agreed = agreement(with: seen, remains.isAuthentic ? manifest : nil)
        let standing = origin.sequence
        note(try loader.readRemains(of: remains.view.header.root) { newest[$0.name] = ($0, standing) })
        try readRecords(agreedUpTo: agreed)
        // The bytes after the last record may be another process's changes, which this machine has not seen.
        if let foreign { lose(foreign) }
        if let record = memory?.pathRecord(), record.vaultID != remains.view.header.vaultID {
            lose("this machine has seen another vault at this path")
        }
        forgeable = try namesSharingNonces()
        if !forgeable.isEmpty {
            damage.append("different values that share a nonce, which this program never writes")
            // Removed names whose values share a nonce are not listed, although these values may be restored later.
            hasGaps = true
        }
    }

    /// Returns the remembered positions with the highest sequence number, and whether the data key was rotated after
    /// `keys`. Compares all heads of a vault in git, because checking out an old one lowers the position.
    private static func seen(
        _ memory: RollbackMemory?, by keys: KeyRing, _ manifest: Manifest?
    ) throws(LogError) -> (positions: [LogPosition], isOfFormerKey: Bool) {
        let remembered = memory.flatMap(Remembered.init)
        let formerKeys = manifest?.formerMemoryKeys ?? []
        do throws(LogError) {
            let last = try remembered?.seen(under: keys) { formerKeys }?.position
            let heads = try memory?.keptHeads { () throws(LogError) in formerKeys } ?? []
            let all = [last].compactMap(\.self) + heads
            let highest = all.map(\.sequence).max()
            return (all.filter { $0.sequence == highest }, false)
        } catch {
            guard error.code == .rolledBack else { throw error }
            return ([], true)
        }
    }

    private func namesSharingNonces() throws(LogError) -> Set<EntryName> {
        var table = NonceTable()
        for found in newest.values { table.add(found.entry) }
        var shared = table.shared()
        for found in newest.values { shared.add(found.entry) }
        return try shared.names(in: remains.view.store)
    }

    /// Arranges authentic records into one history after `origin`. Omits earlier records.
    private static func chain(_ found: [Record], after origin: LogPosition) -> (records: [Record], breaks: [Int]) {
        var records: [Record] = []
        var breaks: [Int] = []
        var last = origin
        var rest = found.sorted { ($0.index.sequence, $0.offset) < ($1.index.sequence, $1.offset) }[...]
        while let next = rest.first {
            let same = rest.prefix { $0.index.sequence == next.index.sequence }
            rest = rest.dropFirst(same.count)
            guard next.index.sequence > origin.sequence else { continue }
            let record = same.first { $0.previous == last } ?? next
            if record.previous != last { breaks.append(records.count) }
            records.append(record)
            last = record.position
        }
        return (records, breaks)
    }

    /// The entries that have not been removed, ordered by the offsets of their values.
    var present: [Found] {
        let present = newest.values.filter { !$0.entry.isRemoved }
        return present.sorted { ($0.entry.content?.current.offset ?? 0) < ($1.entry.content?.current.offset ?? 0) }
    }

    /// The entries that have been removed but still have earlier values.
    var removed: [Found] { newest.values.filter { $0.entry.isRemoved && !$0.entry.earlier.isEmpty } }

    private var loader: PageLoader { remains.view.loader }
    private var origin: LogPosition { remains.origin }
    private var head: LogPosition { records.last?.position ?? origin }

    func unnamed(_ manifest: Manifest?) -> Int? {
        guard hasGaps else { return 0 }
        let known = UInt64(newest.values.count { !$0.entry.isRemoved })
        let totals = records.last?.index.totals ?? manifest?.totals
        return totals.map { Int(clamping: $0.entries - min($0.entries, known)) }
    }

    func isDoubtful(_ found: Found) -> Bool {
        forgeable.contains(found.entry.name)
            || losses.contains { $0.sequence > found.standing && $0.names.contains(found.entry.name) }
    }

    /// Records that changes to names in the range `names` may be lost, if their numbers are at most `sequence`.
    private mutating func lose(_ what: String? = nil, _ names: NameRange = .init(), through sequence: UInt64 = .max) {
        if let what { damage.append(what) }
        losses.append((names, sequence))
        hasGaps = true
    }

    private mutating func note(_ lost: [LostPage]) {
        damage += lost.map { "a page of the index at byte \($0.offset)" }
        if !lost.isEmpty { hasGaps = true }
    }

    /// Reads the records' entries. `agreed` is the index of the record that this machine remembers, if any.
    private mutating func readRecords(agreedUpTo agreed: Int?) throws(LogError) {
        var trees: [Int: (lost: [LostPage], entries: [Entry])] = [:]
        // The index of the newest record with a complete tree. That tree replaces all earlier records.
        var whole = -1
        for (index, record) in records.enumerated().reversed() {
            guard let root = record.index.tree?.root else { continue }
            var entries: [Entry] = []
            let lost = try loader.readRemains(of: root) { entries.append($0) }
            trees[index] = (lost, entries)
            guard lost.isEmpty else { continue }
            for name in newest.keys { newest[name]?.standing = record.index.sequence }
            whole = index
            break
        }
        for index in breaks {
            damage.append(description(ofBreakAt: index))
            guard index > whole else { continue }
            // Records after a break may belong to another history, unless this machine remembers one of them.
            let isAgreed = agreed.map { $0 >= index } ?? false
            lose(through: isAgreed ? records[index].index.sequence : .max)
        }
        for (index, record) in records.enumerated().dropFirst(max(whole, 0)) {
            let sequence = record.index.sequence
            let (lost, entries) = trees[index] ?? ([], Array(record.index.transactions.joined()))
            for entry in entries { newest[entry.name] = (entry, sequence) }
            note(lost)
            for page in lost { lose(nil, page.names, through: sequence) }
        }
    }

    private func description(ofBreakAt index: Int) -> String {
        let first = (index > 0 ? records[index - 1].index.sequence : origin.sequence) + 1
        let next = records[index]
        let last = next.index.sequence - 1
        guard first <= last else {
            return "change \(next.index.sequence) at byte \(next.offset), which does not follow the previous change"
        }
        return "\(first == last ? "change \(first)" : "changes \(first) to \(last)"), before byte \(next.offset)"
    }

    func earlier(of names: Set<EntryName>) throws(LogError) -> [EntryName: [Entry]] {
        var earlier: [EntryName: [Entry]] = [:]
        func take(_ entry: Entry) {
            guard names.contains(entry.name), earlier[entry.name]?.last != entry else { return }
            earlier[entry.name, default: []].append(entry)
        }
        for record in records.reversed() {
            for entry in record.index.transactions.joined().reversed() { take(entry) }
            _ = try loader.readRemains(of: record.index.tree?.root, take: take)
        }
        _ = try loader.readRemains(of: remains.view.header.root, take: take)
        return earlier
    }

    /// Returns the index of the remembered record, −1 for a position before all records, or nil if none is remembered
    /// or this history lacks or may lack it. Records a loss if it is missing, or if there is no manifest to tell.
    ///
    /// - Parameter positions: the positions with the highest sequence number that this machine has seen. The history
    ///   must include one of them.
    private mutating func agreement(with positions: [LogPosition], _ manifest: Manifest?) -> Int? {
        if let index = records.firstIndex(where: { positions.contains($0.position) }) { return index }
        if positions.contains(origin) { return -1 }
        let included = positions.first { manifest?.includes($0, before: origin) == .included }
        guard let seen = included ?? positions.first else { return nil }
        if seen.sequence > head.sequence {
            lose("this machine has seen change \(seen.sequence), but the newest remaining one is \(head.sequence)")
        } else if seen.sequence == origin.sequence || records.contains(where: { $0.index.sequence == seen.sequence }) {
            lose("this machine has seen a different change \(seen.sequence)")
        } else {
            switch manifest?.includes(seen, before: origin) {
            case .included: return -1
            case .excluded:
                lose("this machine has seen a different change \(seen.sequence), which this history does not include")
            case .unknown: break
            case nil: lose("this might not be the history that this machine has seen")
            }
        }
        return nil
    }
}

/// The offset of a page that cannot be opened, and the range of names that it covers.
private typealias LostPage = (offset: UInt64, names: NameRange)

extension PageLoader {
    /// Passes a tree's readable entries to `take` in the order of their names. Returns the pages that cannot be opened.
    fileprivate func readRemains(of root: PageReference?, take: (Entry) -> Void) throws(LogError) -> [LostPage] {
        var lost: [LostPage] = []
        func read(_ reference: PageReference, level: UInt8?, _ names: NameRange) throws(LogError) {
            do throws(LogError) {
                let page = try load(reference, level: level)
                let cells = 0..<page.count
                if page.isLeaf {
                    for entry in try cells.map({ (cell) throws(LogError) in try page.entry(cell) }) { take(entry) }
                } else {
                    let children = try cells.map { (cell) throws(LogError) in
                        // The first child of a page also covers names that precede the child's own first name.
                        let lower = cell > 0 ? try page.name(cell) : names.lower
                        let upper = cell + 1 < page.count ? try page.name(cell + 1) : names.upper
                        return (try page.child(cell), NameRange(lower: lower, upper: upper))
                    }
                    for (child, names) in children { try read(child, level: page.level - 1, names) }
                }
            } catch {
                guard error.code == .damaged else { throw error }
                lost.append((reference.offset, names))
            }
        }
        if let root { try read(root, level: nil, NameRange()) }
        return lost
    }
}
