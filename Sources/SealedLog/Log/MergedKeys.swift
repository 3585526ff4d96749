import LinuxSystem
import Sealing

/// Whose key slots, data key and members count after a merge.
struct MergedKeys {
    private enum Relation {
        /// Both copies are under one data key.
        case same
        /// The other copy's was made here once, and this side's was given up there: whoever was locked out then must
        /// not come in again.
        case otherIsNewer
        /// The other copy's was given up here, or this vault has never had it.
        case otherIsForeign
    }

    let choice: MergeReport.Keys
    private let relation: Relation
    private let theirs: LogView
    private let manifest: Manifest
    private let ownMembers: MemberList
    private let otherMembers: MemberList
    /// Whether this vault has had the other copy's data key.
    private let isOfKnownKey: Bool
    /// The changes of the members that the other copy has and this vault has not.
    let broughtChanges: Set<Authenticator>

    init(_ ours: LogView, _ theirs: LogView) throws(LogError) {
        self.theirs = theirs
        let ownManifest = try ours.manifest()
        ownMembers = try ours.members(in: ownManifest)
        do throws(LogError) {
            manifest = try theirs.manifest()
            otherMembers = try theirs.members(in: manifest)
        } catch { throw error.ofCopy }
        broughtChanges = Set(manifest.members.map(\.id)).subtracting(ownMembers.records.map(\.id))
        let (own, other) = (ours.keys.memoryKey, theirs.keys.memoryKey)
        isOfKnownKey = ownManifest.formerMemoryKeys.contains(other)
        if own == other {
            (relation, choice) = (.same, ours.header.slots == theirs.header.slots ? .same : .own)
        } else if manifest.formerMemoryKeys.contains(own) {
            (relation, choice) = (.otherIsNewer, .other)
        } else {
            (relation, choice) = (.otherIsForeign, .own)
        }
    }

    /// Throws `pinWrong` unless this vault has, or once had, the data key of the copy: anybody can make a vault that a
    /// recipient's public key opens, with this one's id.
    func checkThatDataKeyIsKnown() throws(LogError) {
        guard relation != .same, !isOfKnownKey else { return }
        throw LogError(.pinWrong, Hexadecimal.string(of: try theirs.keys.fingerprint(of: theirs.header.vaultID)))
    }

    /// Whether values of the two copies are known by their nonces.
    var areOfOneDataKey: Bool { relation == .same }

    /// Whether somebody who was shut out of this vault may have written the other copy.
    var isOfFormerKey: Bool { relation == .otherIsForeign }

    /// Those of the other copy, if they count.
    var taken: KeyRing? { relation == .otherIsNewer ? theirs.keys : nil }

    /// Returns the members of this side, with those whom members have added in the other copy. If the data key was
    /// rotated there, it is the other way round.
    func members(_ own: MemberList) throws(LogError) -> MemberList {
        // Who founds the members of a vault that had none decides who they are.
        if isOfFormerKey, own.records.isEmpty { return own }
        if relation == .otherIsNewer { return try otherMembers.joined(with: own.records) }
        return try own.joined(with: manifest.members)
    }

    /// Returns what keeps out of the other copy what this side has; nil if nothing has to. Somebody who was shut out
    /// there may have put this file in the vault's place.
    func gateOfOther(taking taken: NamesTaken) -> MergeGate? {
        let brought = Set(ownMembers.records.map(\.id)).subtracting(otherMembers.records.map(\.id))
        guard relation == .otherIsNewer || relation == .same && !broughtChanges.isEmpty else { return nil }
        return MergeGate(
            isOfFormerKey: relation == .otherIsNewer, members: otherMembers, brought: brought, taken: taken,
            signer: nil)
    }

    /// Whether the copy has changes of the members that this vault takes over.
    var bringsMembers: Bool {
        get throws(LogError) { try members(ownMembers).records.count > ownMembers.records.count }
    }

    /// - Parameters:
    ///   - isTaken: whether this side has the keys that count already.
    ///   - known: the positions that count as merged; nil if there are none yet.
    ///   - isWhole: whether the copy counts as merged.
    func change(
        _ header: Header, _ table: SlotTable, isTaken: Bool, merging known: KnownPositions?, isWhole: Bool
    ) throws(LogError) -> HeaderChange {
        let members = try members(table.members).records
        // If both were rotated, machines may remember the vault under any of these keys.
        let former =
            switch relation {
            case .same: [[UInt8]]()
            case .otherIsNewer: manifest.formerMemoryKeys
            case .otherIsForeign: isWhole ? manifest.formerMemoryKeys + [theirs.keys.memoryKey] : []
            }
        // What one copy wants recorded does not go unrecorded because of the other one.
        let isAccessLogged = header.isAccessLogged || !isOfFormerKey && theirs.header.isAccessLogged
        return HeaderChange(
            old: header,
            choice == .other ? SlotTable(theirs.header, manifest.labels, table.members, theirs.keys) : table,
            members: members.count > table.members.records.count ? members : nil, keys: isTaken ? nil : taken,
            merged: known, formerMemoryKeys: former, isAccessLogged: isAccessLogged)
    }
}
