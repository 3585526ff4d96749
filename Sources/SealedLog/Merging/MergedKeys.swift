import LinuxSystem
import Sealing

/// The key slots, the data key and the members that apply after a merge.
struct MergedKeys {
    private enum Relation {
        /// Both copies have the same data key.
        case same
        /// The other copy has replaced this vault's data key. Keys that this rotation removed must stay removed.
        case otherIsNewer
        /// The other copy has a data key that this vault has replaced or never had.
        case otherIsForeign
    }

    private let relation: Relation
    /// Whether the merged vault uses the other copy's keys and history limits.
    private var countsOther: Bool
    private let areSlotsSame: Bool
    private let ownKeys: SlotTable
    private let otherKeys: SlotTable
    /// The salts of this vault's key slots that the user keeps even if the other copy has removed them.
    private let kept: Set<[UInt8]>
    /// Whether this machine recognizes this file as the vault. If not, someone whose access the other copy has removed
    /// may have put it at the vault's path, so a merge with the other copy's keys ignores the removals in this file.
    private let isOwnKnown: Bool
    private let theirs: LogView
    private let manifest: Manifest
    private let ownMembers: MemberList
    private let otherMembers: MemberList
    /// Whether the other copy's data key is one that this vault had before, or one that a copy merged into it had.
    private let isOfKnownKey: Bool
    /// The member changes that only the other copy has. If that copy has replaced this vault's data key, all of its
    /// member changes are included, because the members whom it has removed do not have the new data key.
    let broughtChanges: Set<Authenticator>

    /// - Parameters:
    ///   - kept: the salts of this vault's key slots that the user keeps.
    ///   - isOwnKnown: whether this machine recognizes this file as the vault.
    init(_ ours: LogView, _ theirs: LogView, keeping kept: Set<[UInt8]> = [], isOwnKnown: Bool) throws(LogError) {
        self.theirs = theirs
        let ownManifest = try ours.manifest()
        ownMembers = try ours.members(in: ownManifest)
        do throws(LogError) {
            manifest = try theirs.manifest()
            otherMembers = try theirs.members(in: manifest)
        } catch { throw error.ofCopy }
        let own = ours.keys.memoryKey
        let other = theirs.keys.memoryKey
        isOfKnownKey = ownManifest.formerMemoryKeys.contains(other)
        let isNewer = manifest.formerMemoryKeys.contains(own)
        relation = own == other ? .same : isNewer ? .otherIsNewer : .otherIsForeign
        areSlotsSame = ours.header.slots == theirs.header.slots
        ownKeys = SlotTable(ours.header, ownManifest, ownMembers, ours.keys)
        otherKeys = SlotTable(theirs.header, manifest, otherMembers, theirs.keys)
        self.kept = kept
        self.isOwnKnown = isOwnKnown
        countsOther = relation == .otherIsNewer
        let changes = Set(manifest.members.map(\.id))
        broughtChanges = countsOther ? changes : changes.subtracting(ownMembers.records.map(\.id))
    }

    /// Uses the other copy's keys if both copies have the same data key. Call this if this machine recognizes only that
    /// copy as the vault: this vault's file may then be older, and still have keys that were removed later.
    mutating func countOther() { if relation == .same { countsOther = true } }

    var choice: MergeReport.Keys {
        if relation == .same, areSlotsSame { return .same }
        return countsOther ? .other : .own
    }

    // MARK: Removed keys

    /// The indices of this vault's keys that the other copy has removed or may have removed, so that the user must
    /// decide whether they stay. If both copies have the same data key, only the key that has opened this vault can be
    /// among them. If both data keys were rotated, all keys that the other copy lacks are included: a person whose
    /// access was removed may have renamed a key, so that it is missing from the copy's list of removed keys.
    private var askedKeys: [Int] {
        guard relation != .otherIsNewer, !countsOther else { return [] }
        let own = ownKeys.identities
        let others = otherKeys.identities
        let removed = Set(otherKeys.removedBefore)
        return ownKeys.slots.indices.filter { index in
            let isRemoved = removed.contains(ownKeys.labels[index].id)
            if relation == .same { return isRemoved && index == ownKeys.own }
            let isShared = isOfKnownKey || others.contains(own[index]) && own.count { $0 == own[index] } == 1
            return isRemoved || !isShared
        }
    }

    private func isKept(_ index: Int) -> Bool { kept.contains(ownKeys.slots[index].salt) }

    /// The indices of this vault's keys that the other copy may have removed, except for those that the user keeps.
    var doubtedKeys: [Int] { askedKeys.filter { !isKept($0) } }

    var keptKeys: Set<SlotLabel.ID> { Set(askedKeys.filter(isKept).map { ownKeys.labels[$0].id }) }

    /// The keys that no longer open the merged vault, because one of the copies has removed them.
    var goneKeys: [LogKeySlot] { keysToRemove(from: countsOther ? otherKeys : ownKeys, own: ownKeys) }

    /// Returns the slots of one copy's table whose keys were removed in the other copy.
    ///
    /// - Parameter own: this vault's current slots.
    private func keysToRemove(from table: SlotTable, own: SlotTable) -> [LogKeySlot] {
        if relation == .otherIsForeign { return [] }
        guard countsOther else { return table.keys(removed: Set(otherKeys.removedBefore)) }
        return isOwnKnown ? table.keys(removed: Set(own.removedBefore + ownKeys.removedBefore)) : []
    }

    /// Returns the merged vault's slots, given this vault's current slots.
    private func slots(_ own: SlotTable) throws(LogError) -> SlotTable {
        var table = own
        if countsOther {
            table = otherKeys
            table.members = own.members
        }
        for slot in keysToRemove(from: table, own: own) { try table.remove(slot.salt) }
        table.keep(keptKeys)
        return table
    }

    /// Throws `pinWrong` if this vault has never had the copy's data key, because the copy may be a forgery. Anyone who
    /// knows a recipient's public key can create a vault that has the same ID and that this recipient can open.
    func checkThatDataKeyIsKnown() throws(LogError) {
        guard relation != .same, !isOfKnownKey else { return }
        throw LogError(.pinWrong, Hexadecimal.string(of: try theirs.keys.fingerprint(of: theirs.header.vaultID)))
    }

    /// Whether this vault has the other copy's data key, has had it, or adopts it in this merge. If not, this vault's
    /// file may have been written by someone whose access was removed in the rotation to that key.
    var isOfKnownOrigin: Bool { relation != .otherIsForeign || isOfKnownKey }

    /// Whether both copies have the same data key, so that their values can be compared by nonce.
    var areOfOneDataKey: Bool { relation == .same }

    /// Whether a person whose access this vault has removed may have written the other copy.
    var isOfFormerKey: Bool { relation == .otherIsForeign }

    /// The other copy's key ring if the merge adopts that copy's data key; otherwise nil.
    var taken: KeyRing? { relation == .otherIsNewer ? theirs.keys : nil }

    /// Whether the other copy's history is trusted: its data key is this vault's or has replaced it, and no member
    /// removed here could have it. A vault whose last member was removed counts as one that never had members.
    var isOtherHistoryBelieved: Bool {
        get throws(LogError) {
            switch relation {
            case .same: return ownMembers.isEmpty || !ownMembers.hasRemovalsUnknownToKey
            case .otherIsNewer:
                let members = try members(ownMembers)
                return members.isEmpty || !members.hasRemovals(otherThan: broughtChanges)
            case .otherIsForeign: return false
            }
        }
    }

    /// Returns the members after the merge: this vault's, with the changes that they have made in the other copy. If
    /// the other copy's data key is newer, returns that copy's members, with the changes that they have made here.
    func members(_ own: MemberList) throws(LogError) -> MemberList {
        // A copy with a foreign data key must not add the first member, since all other members depend on the first.
        if isOfFormerKey, own.records.isEmpty { return own }
        if relation == .otherIsNewer { return try otherMembers.joined(with: own.records) }
        return try own.joined(with: manifest.members)
    }

    /// Returns a gate that checks this vault's states as if they were merged into the other copy; nil if not needed. It
    /// is needed if someone whose access the other copy has removed may have put this file at the vault's path.
    ///
    /// - Parameter signer: signs the states that the user keeps.
    func gateOfOther(taking taken: NamesTaken, signer: StateSigner? = nil) -> MergeGate? {
        let brought = Set(ownMembers.records.map(\.id)).subtracting(otherMembers.records.map(\.id))
        guard relation == .otherIsNewer || relation == .same && !broughtChanges.isEmpty else { return nil }
        return MergeGate(
            isOfFormerKey: relation == .otherIsNewer, isBelieved: false, members: otherMembers, brought: brought,
            taken: taken, signer: signer)
    }

    var memberDifferences: MemberDifferences {
        get throws(LogError) {
            let own = ownMembers.members.map(\.name)
            let other = otherMembers.members.map(\.name)
            let merged = try members(ownMembers).members.map(\.name)
            return MemberDifferences(
                removed: own.filter { !merged.contains($0) }, hereAlone: merged.filter { !other.contains($0) },
                thereAlone: other.filter { !merged.contains($0) })
        }
    }

    /// Whether the copy has member changes that this vault will adopt.
    var bringsMembers: Bool {
        get throws(LogError) { try members(ownMembers).records.map(\.id) != ownMembers.records.map(\.id) }
    }

    /// - Parameters:
    ///   - isTaken: whether this vault already has the keys that apply after the merge.
    ///   - known: the log positions to record as merged; nil if there are none yet.
    ///   - isWhole: whether the whole copy counts as merged: nothing was refused and its history is accepted.
    ///   - isOwnBelieved: whether this vault's history is trusted. If so, all of its log positions are kept.
    func change(
        _ header: Header, _ table: SlotTable, isTaken: Bool, merging known: KnownPositions?, isWhole: Bool,
        isOwnBelieved: Bool
    ) throws(LogError) -> HeaderChange {
        let members = try members(table.members).records
        // After rotations in both copies, any data key of the other copy may have authenticated a rollback memory.
        let former =
            switch relation {
            case .same: [[UInt8]]()
            case .otherIsNewer: manifest.formerMemoryKeys
            case .otherIsForeign: isWhole ? manifest.formerMemoryKeys + [theirs.keys.memoryKey] : []
            }
        let kept = keptKeys
        let removedInCopy = otherKeys.removedBefore.filter { !kept.contains($0) }
        // The access log is on if it is on in either copy. A copy with a foreign data key does not count.
        let isAccessLogged = header.isAccessLogged || !isOfFormerKey && theirs.header.isAccessLogged
        return try HeaderChange(
            old: header, slots(table), members: members.map(\.id) == table.members.records.map(\.id) ? nil : members,
            keys: isTaken ? nil : taken, membersKnownToKey: taken.map { _ in manifest.membersKnownToKey },
            merged: known, isOwnHistoryBelieved: isOwnBelieved, formerMemoryKeys: former,
            removedKeys: countsOther ? otherKeys.removedBefore : [],
            removedKeysOfCopy: !countsOther && (!isOfFormerKey || isWhole) ? removedInCopy : [],
            forgetsRemovedKeys: countsOther && !isOwnKnown && !isTaken, isAccessLogged: isAccessLogged)
    }
}

extension LogError {
    /// This error as an error of the other copy: `damaged` becomes `copyDamaged`.
    var ofCopy: LogError { code == .damaged ? LogError(.copyDamaged, detail) : self }
}
