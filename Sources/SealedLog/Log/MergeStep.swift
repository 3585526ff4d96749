/// Another copy of a vault while it is merged.
struct MergedCopy {
    let view: LogView
    let past: CommonPast
    let keys: MergedKeys
    let taken: NamesTaken
    /// The key of an attribute that a name keeps if either side has it and both have changed.
    let keptAttribute: String?

    /// - Parameters:
    ///   - other: what counts of an entry of the copy.
    ///   - entry: the entry as it is in the copy.
    func pair(_ own: Entry?, _ other: Entry, changedAs entry: Entry) -> EntryPair {
        // Somebody who was shut out may have numbered his changes as he liked: times decide, which are signed.
        guard !keys.isOfFormerKey || taken.contains(entry.name) else {
            return EntryPair(own: own, other: other, hasOwnChanged: nil, hasOtherChanged: nil)
        }
        return EntryPair(
            own: own, other: other, hasOwnChanged: own.flatMap(past.hasOwnChanged),
            hasOtherChanged: past.hasOtherChanged(entry))
    }
}

/// Entries of another copy that are merged together, while nobody else can write.
struct MergeStep {
    /// Those that have changed there since this side took its state over.
    private(set) var entries: [Entry] = []
    private(set) var size: UInt64 = 0
    /// Whether there was nothing left.
    private(set) var isEnd = true

    private static let limits = (entries: 20_000, size: UInt64(64 << 20))

    init(_ merge: inout EntryMerge, _ past: CommonPast) throws(LogError) {
        while entries.count < MergeStep.limits.entries, size < MergeStep.limits.size, let entry = try merge.next() {
            isEnd = false
            size += entry.footprint
            if past.hasOtherChanged(entry) != false { entries.append(entry) }
        }
    }
}
