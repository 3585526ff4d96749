package struct MergeReport: Hashable, Sendable {
    package enum Keys: Sendable {
        case same
        /// The copies' keys differ. The vault keeps its own, or adopts the other copy's, for example if they are newer.
        case own, other
    }

    /// The names that were added or changed in this vault, sorted bytewise.
    package internal(set) var changed: [String] = []
    /// The names whose entries both copies have changed since the copies diverged. The later value becomes current.
    package internal(set) var conflicts: [String] = []
    /// The ``conflicts`` whose replaced value was dropped: the vault keeps no history or the entry would be too large.
    package internal(set) var dropped: [String] = []
    /// The names with changes that were rejected because a person whose access was removed may have made them.
    package internal(set) var refused: [String] = []
    /// The names in ``refused`` whose newest state is a removal.
    package internal(set) var refusedRemovals: Set<EntryName> = []
    /// Whether the copy has a data key that this vault has replaced or never had.
    package internal(set) var isOfFormerKey = false
    /// Whether the rejected changes are this vault's own, not the copy's: a person whose access was removed in the copy
    /// may have made these changes. If so, nothing was merged.
    package internal(set) var refusesOwn = false
    /// The indices of this vault's keys that the copy has removed or may have removed. Nothing is merged until the user
    /// has decided whether these keys stay.
    package internal(set) var doubtedKeys: [Int] = []
    /// The keys that no longer open the vault, because one of the copies has removed them.
    package internal(set) var goneKeys: [LogKeySlot] = []
    package internal(set) var members = MemberDifferences()
    package var isWhole: Bool { refused.isEmpty && doubtedKeys.isEmpty }
    /// The path to which a copy with pending changes was moved because it was not fully merged; otherwise nil.
    package internal(set) var keptAt: String?
    /// Whether the copy ends in the middle of a record, perhaps because its file is still being copied.
    package internal(set) var isUnfinished = false
    package internal(set) var keys = Keys.same
    /// The newest log positions that the signers of the admitted states had read, as stated in their signatures.
    var signedPositions: Set<LogPosition> = []

    mutating func refuse(_ entry: Entry) {
        refused.append(entry.name.text)
        if entry.isRemoved { refusedRemovals.insert(entry.name) }
    }
}

/// The members that a merge has removed, and those that only one of the two copies has after the merge, by name.
package struct MemberDifferences: Hashable, Sendable {
    /// The members of this vault that the merge has removed.
    package var removed: [String] = []
    /// The members of the merged vault who are not members of the other copy.
    package var hereAlone: [String] = []
    /// The members of the other copy who are not members of the merged vault.
    package var thereAlone: [String] = []
}
