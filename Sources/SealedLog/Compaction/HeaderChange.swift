import Sealing

/// The change that a compaction makes to the header.
struct HeaderChange: Sendable {
    private let old: Header
    let slots: [KeySlot]
    let labels: [SlotLabel]
    let history: KeptHistory
    let isAccessLogged: Bool
    /// All member changes, old and new; nil if there are no new member changes.
    let members: [MemberRecord]?
    /// The key ring of a new data key, under which everything is resealed; nil if the data key does not change.
    let keys: KeyRing?
    /// The newest of the member changes that the creator of the new data key knew: those that no other known change
    /// follows. Nil if the data key does not change.
    let membersKnownToKey: [Authenticator]?
    let merged: KnownPositions?
    /// Whether the merged history includes all log positions of this vault's history, not only the newest one.
    let isOwnHistoryBelieved: Bool
    /// The subkeys of a merged copy's data keys that may authenticate the rollback memories of other machines.
    let formerMemoryKeys: [[UInt8]]
    /// The keys that this change removes; if the vault takes over a merged copy's slots, the keys removed in that copy.
    let removedKeys: [SlotLabel.ID]
    /// The keys removed in the merged copy, for this vault's list; empty if this vault takes over that copy's slots.
    let removedKeysOfCopy: [SlotLabel.ID]
    /// Whether to discard this vault's previous list of removed keys, so that only the merged copy's list remains.
    let forgetsRemovedKeys: Bool
    var isNewHistory: Bool { history != old.history }
}

extension HeaderChange {
    /// - Parameter oldMembers: the number of member changes before the slot table was edited.
    init(old: Header, _ table: SlotTable, oldMembers: Int) {
        self.init(
            old: old, table, members: table.members.records.count > oldMembers ? table.members.records : nil,
            keys: table.rotated, membersKnownToKey: table.rotated.map { _ in table.members.history.heads }, merged: nil,
            formerMemoryKeys: [], removedKeys: table.removedKeys, isAccessLogged: table.isAccessLogged)
    }

    /// - Parameters:
    ///   - table: the slots of the merged vault.
    ///   - keys: the key ring of the table's slots; nil if this vault already has their data key.
    ///   - membersKnownToKey: the member changes that the creator of that data key knew.
    init(
        old: Header, _ table: SlotTable, members: [MemberRecord]?, keys: KeyRing?, membersKnownToKey: [Authenticator]?,
        merged: KnownPositions?, isOwnHistoryBelieved: Bool = true, formerMemoryKeys: [[UInt8]],
        removedKeys: [SlotLabel.ID] = [], removedKeysOfCopy: [SlotLabel.ID] = [], forgetsRemovedKeys: Bool = false,
        isAccessLogged: Bool
    ) {
        self.init(
            old: old, slots: table.slots, labels: table.labels, history: table.history, isAccessLogged: isAccessLogged,
            members: members, keys: keys, membersKnownToKey: membersKnownToKey, merged: merged,
            isOwnHistoryBelieved: isOwnHistoryBelieved, formerMemoryKeys: formerMemoryKeys, removedKeys: removedKeys,
            removedKeysOfCopy: removedKeysOfCopy, forgetsRemovedKeys: forgetsRemovedKeys)
    }

    /// Returns whether `header` still has the contents on which this change is based.
    func applies(to header: Header) -> Bool {
        // A header does not contain the members, but it refers to the manifest, which does.
        guard members == nil || header.manifest == old.manifest else { return false }
        return header.slots == old.slots && header.history == old.history && header.isAccessLogged == old.isAccessLogged
    }
}
