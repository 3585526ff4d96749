package struct MergeReport: Hashable, Sendable {
    package enum Keys: Sendable {
        case same
        /// The keys differ. Those of this copy count, or those of the other one, whose data key was rotated.
        case own, other
    }

    /// The names that were added or changed here, sorted bytewise.
    package internal(set) var changed: [String] = []
    /// The names that both sides had changed. The later value counts.
    package internal(set) var conflicts: [String] = []
    /// The names in conflict whose other value the history lacks: the vault keeps none, or the entry has no room.
    package internal(set) var dropped: [String] = []
    /// The names with changes that were refused, since a person whose access was removed may have made them.
    package internal(set) var refused: [String] = []
    /// The refused names whose refused state is a removal.
    package internal(set) var refusedRemovals: Set<EntryName> = []
    /// Whether the copy has a data key that this vault has replaced or never had.
    package internal(set) var isOfFormerKey = false
    /// Whether the refused states are in this vault: the copy has removed the access of a person who may have written
    /// them. Then nothing was merged.
    package internal(set) var refusesOwn = false
    /// The indices of this vault's keys that the copy has removed, or may have removed, and for which a person must
    /// decide whether they stay. Then nothing was merged.
    package internal(set) var doubtedKeys: [Int] = []
    /// The keys that no longer open the vault, since one of the copies has removed them.
    package internal(set) var goneKeys: [LogKeySlot] = []
    package internal(set) var members = MemberDifferences()
    package var isWhole: Bool { refused.isEmpty && doubtedKeys.isEmpty }
    /// The new path of a copy with changes that were kept on this machine, if some of them were refused.
    package internal(set) var keptAt: String?
    /// Whether the copy ends within a record: it may still be in the process of being copied.
    package internal(set) var isUnfinished = false
    package internal(set) var keys = Keys.same
    /// The positions that members have signed in the copy, in states that were taken over.
    var signedPositions: Set<LogPosition> = []

    mutating func refuse(_ entry: Entry) {
        refused.append(entry.name.text)
        if entry.isRemoved { refusedRemovals.insert(entry.name) }
    }
}

/// The names of members in which the copies of a merge differ.
package struct MemberDifferences: Hashable, Sendable {
    /// The former members of this vault.
    package var removed: [String] = []
    /// The members of the merged vault who are not members in the other copy.
    package var hereAlone: [String] = []
    /// The members in the other copy who are not members of the merged vault.
    package var thereAlone: [String] = []
}
