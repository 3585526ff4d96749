/// A copy that is being merged into this vault, and the rules of the merge.
struct MergedCopy {
    let view: LogView
    let past: CommonPast
    /// Whether this vault's history is believed. If this machine has never seen this file as the vault, a person whose
    /// access was removed may have put the file there. Log positions are not secret, so they prove nothing.
    let isOwnBelieved: Bool
    let isBelieved: Bool
    let keys: MergedKeys
    let taken: NamesTaken
    /// The key of an attribute that an entry keeps if both copies have changed the entry and either has the attribute.
    let keptAttribute: String?
    /// The current time of this machine's clock.
    let now: UInt64
    /// The limit for possible times, derived from this machine's clock and the server's.
    let limit: TimeLimit

    private var areHistoriesBelieved: Bool { isOwnBelieved && isBelieved }

    /// Returns whether this vault may lack the state of the copy's entry.
    func mayBringIn(_ entry: Entry) -> Bool { !areHistoriesBelieved || past.hasOtherChanged(entry) != false }

    /// - Parameters:
    ///   - other: the part of the copy's entry that counts.
    ///   - entry: the entry as it is in the copy.
    func pair(_ own: Entry?, _ other: Entry, changedAs entry: Entry) -> EntryPair {
        var own = own
        if !isOwnBelieved, !taken.contains(entry.name) { own?.disbelieve() }
        // If one of the histories is not believed, the signed times decide which state is later.
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
    /// The entries that may have changed in the copy since this vault took over their state.
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
