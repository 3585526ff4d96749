package struct MergeReport: Hashable, Sendable {
    package enum Keys: Sendable {
        case same
        /// The copies' keys differ. Either this vault's keys apply, or the copy's keys, for example if they are newer.
        case own, other
    }

    /// The names that were added or changed in this vault, sorted bytewise.
    package internal(set) var changed: [String] = []
    /// The names whose entries both copies have changed since the copies diverged. The later value counts.
    package internal(set) var conflicts: [String] = []
    /// The names in conflict whose replaced value was dropped, because the vault keeps no history or the entry is full.
    package internal(set) var dropped: [String] = []
    /// The names with changes that were refused because a person whose access was removed may have made them.
    package internal(set) var refused: [String] = []
    /// The refused names whose newest state is a removal.
    package internal(set) var refusedRemovals: Set<EntryName> = []
    /// Whether the copy has a data key that this vault has replaced or never had.
    package internal(set) var isOfFormerKey = false
    /// Whether the refused states are in this vault rather than in the copy, because a person whose access the copy has
    /// removed may have written them. If so, nothing was merged.
    package internal(set) var refusesOwn = false
    /// The indices of this vault's keys that the copy has removed or may have removed. Nothing is merged until the user
    /// has decided whether these keys stay.
    package internal(set) var doubtedKeys: [Int] = []
    /// The keys that no longer open the vault, because one of the copies has removed them.
    package internal(set) var goneKeys: [LogKeySlot] = []
    package internal(set) var members = MemberDifferences()
    package var isWhole: Bool { refused.isEmpty && doubtedKeys.isEmpty }
    /// The new path of a copy with pending changes, if some of these changes were refused.
    package internal(set) var keptAt: String?
    /// Whether the copy ends within a record, perhaps because its file is still being copied.
    package internal(set) var isUnfinished = false
    package internal(set) var keys = Keys.same
    /// The log positions in signed states that were taken over from the copy.
    var signedPositions: Set<LogPosition> = []

    mutating func refuse(_ entry: Entry) {
        refused.append(entry.name.text)
        if entry.isRemoved { refusedRemovals.insert(entry.name) }
    }
}

/// The names of members that only one of the merged copies has.
package struct MemberDifferences: Hashable, Sendable {
    /// The members of this vault that the merge has removed.
    package var removed: [String] = []
    /// The members of the merged vault who are not members in the other copy.
    package var hereAlone: [String] = []
    /// The members in the other copy who are not members of the merged vault.
    package var thereAlone: [String] = []
}
