/// Another copy of a vault while it is merged.
struct MergedCopy {
    let view: LogView
    private let past: CommonPast
    /// Whether what this side says of its history counts. Somebody who was shut out may have put it in the vault's
    /// place, unless this machine has seen it as the vault; and positions are no secret.
    let isOwnBelieved: Bool
    /// The same of the copy.
    let isBelieved: Bool
    let keys: MergedKeys
    let taken: NamesTaken
    /// The key of an attribute that a name keeps if either side has it and both have changed.
    let keptAttribute: String?
    let now: UInt64
    private let limit: TimeLimit

    /// - Parameters:
    ///   - now: by this machine's clock.
    ///   - limit: which times can be, by this machine's clock and the server's.
    init(
        view: LogView, past: CommonPast, isOwnBelieved: Bool, isBelieved: Bool, keys: MergedKeys, taken: NamesTaken,
        keptAttribute: String?, now: UInt64, limit: TimeLimit
    ) {
        (self.now, self.limit) = (now, limit)
        (self.view, self.past, self.isOwnBelieved, self.isBelieved) = (view, past, isOwnBelieved, isBelieved)
        (self.keys, self.taken, self.keptAttribute) = (keys, taken, keptAttribute)
    }

    private var areHistoriesBelieved: Bool { isOwnBelieved && isBelieved }

    /// Whether this side may lack an entry of the copy.
    func mayBringIn(_ entry: Entry) -> Bool { !areHistoriesBelieved || past.hasOtherChanged(entry) != false }

    /// - Parameters:
    ///   - other: what counts of an entry of the copy.
    ///   - entry: the entry as it is in the copy.
    func pair(_ own: Entry?, _ other: Entry, changedAs entry: Entry) -> EntryPair {
        var own = own
        if !isOwnBelieved, !taken.contains(entry.name) { own?.disbelieve() }
        // Times are signed, and decide then.
        guard areHistoriesBelieved else {
            return EntryPair(
                own: own, other: other, hasOwnChanged: nil, hasOtherChanged: nil, limit: limit,
                tie: isBelieved ? .other : .own)
        }
        return EntryPair(
            own: own, other: other, hasOwnChanged: own.flatMap(past.hasOwnChanged),
            hasOtherChanged: past.hasOtherChanged(entry), limit: limit)
    }
}

extension Entry {
    /// Leaves out what nobody signs of what was here before.
    mutating func disbelieve() { (forgotten, joined) = (nil, nil) }
}

/// Entries of another copy that are merged together, while nobody else can write.
struct MergeStep {
    /// Those that may have changed there since this side took its state over.
    private(set) var entries: [Entry] = []
    private(set) var size: UInt64 = 0
    /// Whether there was nothing left.
    private(set) var isEnd = true

    private static let limits = (entries: 20_000, size: UInt64(64 << 20))

    init(_ merge: inout EntryMerge, of copy: MergedCopy) throws(LogError) {
        while entries.count < MergeStep.limits.entries, size < MergeStep.limits.size, let entry = try merge.next() {
            isEnd = false
            size += entry.footprint
            if copy.mayBringIn(entry) { entries.append(entry) }
        }
    }
}
