/// The outcome of a merge.
package struct MergeReport: Hashable, Sendable {
    package enum Keys: Sendable {
        /// Both copies have the same.
        case same
        /// They differ: those of this copy count, or those of the other one, whose data key was rotated.
        case own, other
    }

    /// The names that have come or changed here, sorted bytewise.
    package internal(set) var changed: [String] = []
    /// Those of them, and others, that both sides had changed: the later value counts.
    package internal(set) var conflicts: [String] = []
    /// Those in conflict whose other value is not in the history: the vault keeps none, or the entry has no room.
    package internal(set) var dropped: [String] = []
    /// The names with changes that were left out, since somebody who was shut out may have made them.
    package internal(set) var refused: [String] = []
    /// The refused names whose refused state is a removal.
    package internal(set) var refusedRemovals: Set<EntryName> = []
    /// Whether the copy is under a data key that this vault has given up, or has never had.
    package internal(set) var isOfFormerKey = false
    /// Whether what was refused is in this vault: the copy has shut somebody out who may have written it. Then nothing
    /// was merged.
    package internal(set) var refusesOwn = false
    /// The indexes of the keys of this vault that the copy has removed, or may have, where a person has to say whether
    /// they stay. Then nothing was merged.
    package internal(set) var doubtedKeys: [Int] = []
    /// The keys that open the vault no more, since one of the copies has removed them.
    package internal(set) var goneKeys: [LogKeySlot] = []
    package internal(set) var members = MemberDifferences()
    /// Whether nothing of the copy was left out.
    package var isWhole: Bool { refused.isEmpty && doubtedKeys.isEmpty }
    /// Where the copy is from now on, of changes that were kept on this machine and of which something was refused.
    package internal(set) var keptAt: String?
    /// Whether the copy ends within a change: it may still be copied.
    package internal(set) var isUnfinished = false
    /// Whose key slots count from now on.
    package internal(set) var keys = Keys.same
    /// The positions that members have signed in the copy, with what was taken over.
    var signedPositions: Set<LogPosition> = []

    mutating func refuse(_ entry: Entry) {
        refused.append(entry.name.text)
        if entry.isRemoved { refusedRemovals.insert(entry.name) }
    }
}

/// The names of members in which the copies of a merge differ.
package struct MemberDifferences: Hashable, Sendable {
    /// Those who were members of this vault, and are no more.
    package var removed: [String] = []
    /// The members of the merged vault who are none in the other copy.
    package var hereAlone: [String] = []
    /// The members in the other copy who are none of the merged vault.
    package var thereAlone: [String] = []
}
