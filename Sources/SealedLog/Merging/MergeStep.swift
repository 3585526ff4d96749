/// A copy that is being merged into this vault, and the rules for the merge.
struct MergedCopy {
    let view: LogView
    let past: CommonPast
    /// Whether this vault's history is trusted. If this machine does not recognize this file, a person whose access was
    /// removed may have put it at the vault's path. Log positions are not secret, so they prove nothing.
    let isOwnBelieved: Bool
    let isBelieved: Bool
    let keys: MergedKeys
    let taken: NamesTaken
    /// The key of an attribute that a merged entry has if both copies changed the entry and either has the attribute.
    let keptAttribute: String?
    /// The current time by this machine's clock.
    let now: UInt64
    /// The latest time that a state may have, derived from this machine's clock and the server's.
    let limit: TimeLimit

    private var areHistoriesBelieved: Bool { isOwnBelieved && isBelieved }

    /// Returns whether the copy's entry may have a state that this vault does not have yet.
    func mayBringIn(_ entry: Entry) -> Bool { !areHistoriesBelieved || past.hasOtherChanged(entry) != false }

    /// - Parameters:
    ///   - other: the part of the copy's entry that ``MergeGate`` has admitted.
    ///   - entry: the entry as stored in the copy.
    func pair(_ own: Entry?, _ other: Entry, changedAs entry: Entry) -> EntryPair {
        var own = own
        if !isOwnBelieved, !taken.contains(entry.name) { own?.disbelieve() }
        // If either copy's history is not trusted, the signed times of the states decide which one is later.
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
    /// Drops the unsigned parts of the entry's history.
    mutating func disbelieve() {
        forgotten = nil
        joined = nil
    }
}

/// A group of the copy's entries that are merged in one record.
struct MergeStep {
    /// The entries that may have changed in the copy since they were last merged into this vault.
    private(set) var entries: [Entry] = []
    private(set) var size: UInt64 = 0
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
