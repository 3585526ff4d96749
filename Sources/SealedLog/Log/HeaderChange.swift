import Sealing

/// What a compaction changes of the header.
struct HeaderChange: Sendable {
    private let old: Header
    let slots: [KeySlot]
    let labels: [SlotLabel]
    let history: KeptHistory
    let isAccessLogged: Bool
    /// The changes of the members; nil if there are no new ones.
    let members: [MemberRecord]?
    /// Those of a new data key, under which everything is sealed anew; nil if it stays.
    let keys: KeyRing?
    /// The changes of the members that the new data key's maker knew, but for those that one of these follows; nil if
    /// the data key stays.
    let membersKnownToKey: [Authenticator]?
    /// The log positions of another history that was merged into this one.
    let merged: KnownPositions?
    /// Whether this history's own positions count beside them.
    let isOwnHistoryBelieved: Bool
    /// The memory subkeys of data keys that machines may remember this vault under, besides its own and former ones.
    let formerMemoryKeys: [[UInt8]]
    /// The keys that are removed, or have been in the copy whose slots count from now on.
    let removedKeys: [SlotLabel.ID]
    /// The keys that were removed in another copy.
    let removedKeysOfCopy: [SlotLabel.ID]
    /// Whether those do not count that were removed here before.
    let forgetsRemovedKeys: Bool
    var isNewHistory: Bool { history != old.history }

    /// - Parameter oldMembers: how many changes of the members there were.
    init(old: Header, _ table: SlotTable, oldMembers: Int) {
        self.old = old
        members = table.members.records.count > oldMembers ? table.members.records : nil
        (slots, labels, history, keys) = (table.slots, table.labels, table.history, table.rotated)
        isAccessLogged = table.isAccessLogged
        membersKnownToKey = table.rotated.map { _ in table.members.history.heads }
        (merged, isOwnHistoryBelieved, formerMemoryKeys) = (nil, true, [])
        (removedKeys, removedKeysOfCopy, forgetsRemovedKeys) = (table.removedKeys, [], false)
    }

    /// - Parameters:
    ///   - table: the slots of the merged vault.
    ///   - keys: those of another data key than this vault's, if its slots are for that.
    ///   - membersKnownToKey: the changes of the members that this one's maker knew.
    init(
        old: Header, _ table: SlotTable, members: [MemberRecord]?, keys: KeyRing?, membersKnownToKey: [Authenticator]?,
        merged: KnownPositions?, isOwnHistoryBelieved: Bool = true, formerMemoryKeys: [[UInt8]],
        removedKeys: [SlotLabel.ID] = [], removedKeysOfCopy: [SlotLabel.ID] = [], forgetsRemovedKeys: Bool = false,
        isAccessLogged: Bool
    ) {
        self.isOwnHistoryBelieved = isOwnHistoryBelieved
        (self.members, self.membersKnownToKey) = (members, membersKnownToKey)
        (self.old, self.keys, self.merged, self.formerMemoryKeys) = (old, keys, merged, formerMemoryKeys)
        (self.removedKeys, self.removedKeysOfCopy) = (removedKeys, removedKeysOfCopy)
        self.forgetsRemovedKeys = forgetsRemovedKeys
        (slots, labels, history) = (table.slots, table.labels, table.history)
        self.isAccessLogged = isAccessLogged
    }

    /// Whether a header is still as it was when the change was decided on.
    func applies(to header: Header) -> Bool {
        // A header does not show the members, whom its manifest names.
        guard members == nil || header.manifest == old.manifest else { return false }
        return header.slots == old.slots && header.history == old.history
            && header.isAccessLogged == old.isAccessLogged
    }
}
