import LinuxSystem
import Sealing

/// Who may sign changes of a vault, by what members before them have signed; Format.md, "Members".
package struct MemberList: Sendable {
    /// A member, with all devices of that name.
    package struct Member: Hashable, Sendable {
        package struct Machine: Hashable, Sendable {
            package let device: Device
            /// Since when, in milliseconds since 1970.
            package let since: UInt64
            /// The public key of age that came with it; empty if there was none.
            package let recipient: String
        }

        package let name: String
        /// In the order in which they were added.
        package fileprivate(set) var machines: [Machine]
        /// Who added it.
        package let addedBy: String
    }

    /// What the removal of a member, or of one of its devices, takes away.
    package struct Removal: Sendable {
        let devices: [Device]
        /// The recipients that came with these devices.
        package let recipients: Set<String>
        /// Those that came with the devices that stay.
        package let otherRecipients: Set<String>
        /// Whether no member is left, so that nobody signs any more.
        let leavesNobody: Bool

        /// The recipients whose keys open the vault no more.
        package var lostRecipients: Set<String> { recipients.subtracting(otherRecipients) }
    }

    /// What is known of a device that a change has made a member's.
    private struct Standing: Sendable {
        /// The change that added it, and its index.
        var change: MemberRecord
        var index: Int
        /// The change that removed it.
        var removal: MemberRecord?

        var isMember: Bool { removal == nil }
    }

    private(set) var history = MemberHistory()
    private let vaultID: [UInt8]
    /// The changes that were there when the data key was made, but for those that one of these follows.
    private let knownToKey: [Authenticator]
    /// What the history ends with, for what is signed now.
    private let head: LogPosition
    private var standings: [DeviceID: Standing] = [:]

    /// - Throws: `damaged` if a change was not signed by whom it names.
    init(
        _ records: [MemberRecord], knownToKey: [Authenticator] = [], in vaultID: [UInt8], at head: LogPosition
    ) throws(LogError) {
        (self.vaultID, self.head, self.knownToKey) = (vaultID, head, knownToKey)
        for record in records { try history.append(record, in: vaultID) }
        evaluate()
    }

    var records: [MemberRecord] { history.records }

    /// Whether there is no member: nobody signs.
    package var isEmpty: Bool { !standings.values.contains(where: \.isMember) }

    /// Whether there was ever a member.
    package var hasHistory: Bool { !records.isEmpty }

    /// When the last member was removed, in milliseconds since 1970; nil if there is a member, or never was one.
    package var endedAt: UInt64? { isEmpty ? standings.values.compactMap(\.removal?.change.time).max() : nil }

    /// The number of the newest record from before there were members; nil if there never were any.
    var founding: UInt64? { records.first?.authorship.seen.sequence }

    package func isMember(_ device: Device) -> Bool {
        standings[device.id].map { $0.isMember && $0.change.change.device == device } ?? false
    }

    /// The members in the order in which they came.
    package var members: [Member] {
        var members: [Member] = []
        for standing in standings.values.filter(\.isMember).sorted(by: { $0.index < $1.index }) {
            let change = standing.change.change
            let machine = Member.Machine(device: change.device, since: change.time, recipient: change.recipient)
            if let index = members.firstIndex(where: { $0.name == change.name }) {
                members[index].machines.append(machine)
            } else {
                let author = standings[standing.change.authorship.author]?.change.change.name
                members.append(Member(name: change.name, machines: [machine], addedBy: author ?? ""))
            }
        }
        return members
    }

    /// What a machine remembers of it: the ids of the first change, which all others rest on, and of the removals.
    var landmarks: [Authenticator] {
        (records.prefix(1) + records.dropFirst().filter(\.change.isRemoval)).map(\.id)
    }

    /// Whether a member was ever removed by another change than these.
    func hasRemovals(otherThan brought: Set<Authenticator>) -> Bool {
        records.contains { $0.change.isRemoval && !brought.contains($0.id) }
    }

    /// Whether a member was removed who may have the data key: it was there before.
    var hasRemovalsUnknownToKey: Bool {
        records.indices.contains { records[$0].change.isRemoval && !history.isIncluded($0, by: knownToKey) }
    }

    /// Returns this list with the changes that members of it have made in another copy. Those of others, and of who was
    /// removed here, are left out.
    ///
    /// - Throws: `damaged` for a change that was not signed by whom it names; `invalid` if there is no room.
    func joined(with others: [MemberRecord]) throws(LogError) -> MemberList {
        var list = self
        for record in others where !list.history.contains(record.id) {
            guard record.change.known.allSatisfy(list.history.contains),
                list.isEmpty || list.isMember(record.authorship.author)
            else { continue }
            try list.history.append(record, in: vaultID)
            list.evaluate()
        }
        guard list.records.count > records.count else { return self }
        list.history = try list.history.sorted(in: vaultID)
        list.evaluate()
        return list
    }

    /// Whether the device of an id is a member's now.
    func isMember(_ id: DeviceID) -> Bool { standings[id]?.isMember ?? false }

    /// Whether it is, or was.
    func wasAdded(_ id: DeviceID) -> Bool { standings[id] != nil }

    /// Whether it was, and is no more, by another change than these.
    func wasRemoved(_ id: DeviceID, otherThanBy brought: Set<Authenticator>) -> Bool {
        standings[id]?.removal.map { !brought.contains($0.id) } ?? false
    }

    // MARK: Signatures

    /// Who has signed a statement.
    package enum Author: Hashable, Sendable {
        case member(String)
        /// It was signed after a change that the removal of its author preceded.
        case removed(String)

        package var name: String {
            switch self {
            case .member(let name), .removed(let name): name
            }
        }
    }

    /// Returns who has signed a statement. Throws `damaged` if nobody who is known has.
    func author(of authorship: Authorship, for statement: Statement) throws(LogError) -> Author {
        guard let device = history.device(authorship.author), authorship.isValid(for: statement, by: device) else {
            throw .damaged("a change that was not signed by whom it names")
        }
        let name = standings[device.id]?.change.change.name ?? device.text
        return wasMember(authorship) ? .member(name) : .removed(name)
    }

    /// Whether the author of a state was a member, by the log position that it knew.
    func wasMember(_ authorship: Authorship) -> Bool {
        guard let standing = standings[authorship.author] else { return false }
        // Whoever removed it knew less.
        return standing.removal.map { $0.authorship.seen.sequence > authorship.seen.sequence } ?? true
    }

    // MARK: Changes

    /// Adds a device to a member, who may be new.
    ///
    /// - Parameters:
    ///   - recipient: the member's public key of age; empty if the member opens the vault in another way.
    ///   - key: of a member. Of an empty list, the first one is the signer's own device.
    /// - Throws: `invalid`, `notMember`.
    package mutating func add(
        _ name: String, _ device: Device, recipient: String = "", signedBy key: DeviceKey
    ) throws(LogError) {
        guard EntryName.isValid(name), name.utf8.count <= Manifest.labelSize else {
            throw LogError(.invalid, "a member's name has 1 to \(Manifest.labelSize) bytes, in one line")
        }
        guard standings[device.id].map({ !$0.isMember }) ?? true else {
            throw LogError(.invalid, "this device is a member's already")
        }
        guard !isEmpty || device == key.device else {
            throw LogError(.invalid, "the first member adds themselves, on this device")
        }
        guard isEmpty || !isMember(key.device) || mayAdd(name, key.device.id) else {
            throw LogError(.invalid, "another device of a member is added on one of its own")
        }
        try sign(isRemoval: false, name, device, recipient, by: key)
    }

    /// Returns what the removal of a member takes away.
    ///
    /// - Parameter device: the one of its devices that is removed; nil for all.
    /// - Throws: `invalid` for a name that no member has, and a device that is not the member's.
    package func removal(of name: String, device: Device? = nil) throws(LogError) -> Removal {
        let members = members
        guard let member = members.first(where: { $0.name == name }) else {
            throw LogError(.invalid, "no member has that name")
        }
        let isRemoved = { (machine: Member.Machine) in device.map { $0 == machine.device } ?? true }
        let removed = member.machines.filter(isRemoved)
        guard !removed.isEmpty else { throw LogError(.invalid, "the member has no such device") }
        let others = members.filter { $0.name != name }.flatMap(\.machines) + member.machines.filter { !isRemoved($0) }
        func recipients(_ machines: [Member.Machine]) -> Set<String> {
            Set(machines.map(\.recipient).filter { !$0.isEmpty })
        }
        return Removal(
            devices: removed.map(\.device), recipients: recipients(removed), otherRecipients: recipients(others),
            leavesNobody: others.isEmpty)
    }

    /// Removes a member with all devices, or one of its devices. Returns what that takes away.
    ///
    /// - Parameter allowsNobody: whether the last member may be removed.
    /// - Throws: as ``removal(of:device:)``; `invalid` for the last member; `notMember`.
    @discardableResult
    package mutating func remove(
        _ name: String, device: Device? = nil, allowingNobody allowsNobody: Bool = false, signedBy key: DeviceKey
    ) throws(LogError) -> Removal {
        let removal = try removal(of: name, device: device)
        guard allowsNobody || !removal.leavesNobody else {
            throw LogError(.invalid, "this is the last member: without one, nobody signs what is changed")
        }
        // One's own device signs until the end.
        for device in removal.devices.filter({ $0 != key.device }) + removal.devices.filter({ $0 == key.device }) {
            try sign(isRemoval: true, name, device, "", by: key)
        }
        return removal
    }

    private mutating func sign(
        isRemoval: Bool, _ name: String, _ device: Device, _ recipient: String, by key: DeviceKey
    ) throws(LogError) {
        guard isEmpty || isMember(key.device) else { throw LogError(.notMember, key.device.text) }
        let change = MemberChange(
            isRemoval: isRemoval, time: Clock.milliseconds, name: name, device: device, recipient: recipient,
            known: history.heads)
        let authorship = try key.sign(Statement(change, in: vaultID), after: head)
        try history.append(MemberRecord(change: change, authorship: authorship), in: vaultID)
        evaluate()
    }

    /// Whether a device may add one of a name: nobody gets into another member's name.
    private func mayAdd(_ name: String, _ author: DeviceID) -> Bool {
        standings[author]?.change.change.name == name
            || !standings.values.contains { $0.isMember && $0.change.change.name == name }
    }

    /// Finds out who is a member by the changes that count.
    private mutating func evaluate() {
        standings = [:]
        for index in history.counting {
            let record = history[index]
            let (device, authorship) = (record.change.device, record.authorship)
            guard history.counts(device) else { continue }
            if !record.change.isRemoval {
                let isMember = standings[device.id]?.isMember ?? false
                guard !isMember, mayAdd(record.change.name, authorship.author) else { continue }
                standings[device.id] = Standing(change: record, index: index)
            } else if let standing = standings[device.id], history.knows(index, standing.index) {
                standings[device.id]?.removal = record
            }
        }
    }
}
