/// The newest entry of each name that can still be found, and how far it can be trusted.
///
/// Every entry is authentic, but a newer one may be lost. So each entry has a *standing*: the number of the change up
/// to which it is known to be the newest. A loss affects a range of names, up to the last change that it may hide.
struct SalvagedHistory {
    struct Found {
        let entry: Entry
        var standing: UInt64
    }

    private struct Loss {
        let names: NameRange
        let sequence: UInt64
    }

    private(set) var newest: [EntryName: Found] = [:]
    /// What is damaged, in words.
    private(set) var damage: [String] = []
    private var losses: [Loss] = []
    /// Whether pages or changes are lost, even if later ones replace them.
    private(set) var hasGaps = false

    private let origin: LogPosition
    private let root: PageReference?
    private let chain: RecordChain
    private let loader: PageLoader

    /// - Parameters:
    ///   - found: all authentic records.
    ///   - seen: what this machine remembers.
    init(
        _ remains: HeaderRemains, _ manifest: Manifest?, _ found: [Record], seen: LogPosition?,
        in store: any RecordStore
    ) throws(LogError) {
        damage = remains.damage
        origin = remains.origin
        root = remains.header.root
        loader = PageLoader(store: store, keys: remains.keys)
        chain = RecordChain(found, after: origin)
        if !remains.isAuthentic { lose() }
        let agreed = agreement(with: seen, manifest)
        try readCheckpoint()
        try readRecords(agreedUpTo: agreed)
    }

    /// The totals of the newest record; nil without records.
    var totals: Totals? { chain.last?.index.totals }

    /// The present entries, in the order of their values in the file.
    var present: [Found] {
        newest.values.filter { !$0.entry.isRemoved }
            .sorted { $0.entry.offset < $1.entry.offset }
    }

    /// The newest position of the chain.
    var head: LogPosition { chain.last?.position ?? origin }

    /// Returns how many of the expected names are lost; nil if that is unknown.
    func unnamed(of expected: UInt64?) -> UInt64? {
        guard hasGaps else { return 0 }
        let known = UInt64(newest.values.count { !$0.entry.isRemoved })
        return expected.map { $0 - min($0, known) }
    }

    func isDoubtful(_ found: Found) -> Bool {
        losses.contains { $0.sequence > found.standing && $0.names.contains(found.entry.name) }
    }

    /// Records damage that may hide any change.
    mutating func lose(_ what: String? = nil) {
        if let what { damage.append(what) }
        lose(NameRange(), through: .max)
    }

    private mutating func lose(_ names: NameRange, through sequence: UInt64) {
        losses.append(Loss(names: names, sequence: sequence))
        hasGaps = true
    }

    /// Reads all that is left, and classifies what is behind it.
    static func read(
        _ remains: HeaderRemains, _ manifest: Manifest?, _ memory: RollbackMemory?, in store: any RecordStore,
        _ counter: UpkeepProgress?
    ) throws(LogError) -> SalvagedHistory {
        let seen = memory?.seen()?.position
        var scan = try RecordScan(of: remains.view(of: store))
        try scan.run(from: remains.isAuthentic ? remains.header.checkpointEnd : Limits.checkpointStart, counter)
        let foreign = try scan.classifyEnd()
        let records = scan.records.filter { record in
            remains.isAuthentic ? record.index.tree.map { $0.header == remains.authenticator } ?? true : true
        }
        var history = try SalvagedHistory(remains, manifest, records, seen: seen, in: store)
        // There was nothing behind the change that this machine has seen as the newest.
        if let foreign, seen == history.head { history.damage.append(foreign) }
        if let foreign, seen != history.head { history.lose(foreign) }
        if let record = memory?.pathRecord(), record.vaultID != remains.header.vaultID {
            history.lose("this machine has seen another vault at this path")
        }
        return history
    }

    // MARK: Reading

    private mutating func readCheckpoint() throws(LogError) {
        var entries: [EntryName: Found] = [:]
        let standing = origin.sequence
        let tree = try TreeRemains(root: root, loader: loader) { entry in
            entries[entry.name] = Found(entry: entry, standing: standing)
        }
        newest = entries
        note(tree)
    }

    private mutating func note(_ tree: TreeRemains) {
        for page in tree.lost {
            damage.append("a page of the index at byte \(page.offset)")
            hasGaps = true
        }
    }

    /// - Parameter agreed: the index of the record that this machine remembers; nil if it remembers none of them.
    private mutating func readRecords(agreedUpTo agreed: Int?) throws(LogError) {
        var trees: [Int: (TreeRemains, [Entry])] = [:]
        // The newest whole tree replaces all the records before it.
        var whole = -1
        for (index, record) in chain.records.enumerated().reversed() {
            guard let root = record.index.tree?.root else { continue }
            var entries: [Entry] = []
            let tree = try TreeRemains(root: root, loader: loader) { entries.append($0) }
            trees[index] = (tree, entries)
            guard tree.lost.isEmpty else { continue }
            for name in newest.keys { newest[name]?.standing = record.index.sequence }
            whole = index
            break
        }
        for index in chain.breaks {
            damage.append(chain.words(forBreakAt: index, after: origin))
            guard index > whole else { continue }
            // The records behind a break may be of another history, unless this machine remembers one of them.
            let isAgreed = agreed.map { $0 >= index } ?? false
            lose(NameRange(), through: isAgreed ? chain.records[index].index.sequence : .max)
        }
        for (index, record) in chain.records.enumerated().dropFirst(max(whole, 0)) {
            let sequence = record.index.sequence
            let entries = trees[index]?.1 ?? Array(record.index.transactions.joined())
            for entry in entries { newest[entry.name] = Found(entry: entry, standing: sequence) }
            guard let tree = trees[index]?.0 else { continue }
            note(tree)
            for page in tree.lost { lose(page.names, through: sequence) }
        }
    }

    /// Reads the entries that names had before, the newest first.
    func earlier(of names: Set<EntryName>) throws(LogError) -> [EntryName: [Entry]] {
        var earlier: [EntryName: [Entry]] = [:]
        func take(_ entry: Entry) {
            guard names.contains(entry.name), earlier[entry.name]?.last != entry else { return }
            earlier[entry.name, default: []].append(entry)
        }
        for record in chain.records.reversed() {
            for entry in record.index.transactions.joined().reversed() { take(entry) }
            if let root = record.index.tree?.root { _ = try TreeRemains(root: root, loader: loader, take: take) }
        }
        _ = try TreeRemains(root: root, loader: loader, take: take)
        return earlier
    }

    // MARK: What this machine remembers

    /// Returns the index of the record that this machine remembers, −1 for a position before all of them; nil if it
    /// remembers nothing, or something else, which is a loss.
    private mutating func agreement(with seen: LogPosition?, _ manifest: Manifest?) -> Int? {
        guard let seen else { return nil }
        if let index = chain.records.firstIndex(where: { $0.position == seen }) { return index }
        if seen == origin { return -1 }
        if seen.sequence > head.sequence {
            lose("this machine has seen change \(seen.sequence), and the newest that is left is \(head.sequence)")
        } else if seen.sequence == origin.sequence || chain.holds(seen.sequence) {
            lose("this machine has seen another change \(seen.sequence) than the one that is left")
        } else {
            switch manifest?.includes(seen, before: origin) {
            case .included: return -1
            case .excluded: lose("this machine has seen another change \(seen.sequence) than this history has had")
            case .unknown: break
            case nil: lose("whether this is the history that this machine has seen cannot be told")
            }
        }
        return nil
    }
}

extension Entry {
    /// The offset of its value.
    fileprivate var offset: UInt64 { content?.current.offset ?? 0 }
}

/// The records of one history, in its order, with the breaks where some are missing.
private struct RecordChain {
    private(set) var records: [Record] = []
    /// Indices of records that do not follow the one before.
    private(set) var breaks: [Int] = []

    /// - Parameters:
    ///   - found: authentic records, in any order; those before `origin` are left out.
    ///   - origin: what the first record follows.
    init(_ found: [Record], after origin: LogPosition) {
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
    }

    var last: Record? { records.last }

    func holds(_ sequence: UInt64) -> Bool {
        records.contains { $0.index.sequence == sequence }
    }

    /// Says what is missing before a record.
    func words(forBreakAt index: Int, after origin: LogPosition) -> String {
        let first = (index > 0 ? records[index - 1].index.sequence : origin.sequence) + 1
        let next = records[index]
        let last = next.index.sequence - 1
        guard first <= last else {
            return "change \(next.index.sequence) at byte \(next.offset), which does not follow the one before"
        }
        let changes = first == last ? "change \(first)" : "changes \(first) to \(last)"
        return "\(changes), before byte \(next.offset)"
    }
}
