import LinuxSystem
import Sealing

/// The members who may sign changes to a vault, according to the signed member changes; see Format.md, "Members".
package struct MemberList: Sendable {
    package struct Member: Hashable, Sendable {
        package struct Machine: Hashable, Sendable {
            package let device: Device
            /// The time when the device was added, in milliseconds since 1970.
            package let since: UInt64
            /// The age recipient stated in the change that added the device; empty if that change states no recipient.
            package let recipient: String
        }

        package let name: String
        /// The devices in the order in which they were added.
        package fileprivate(set) var machines: [Machine]
        /// The name of the member who added the first device of this member.
        package let addedBy: String
    }

    /// The effect of removing a member, or only one of the member's devices.
    package struct Removal: Sendable {
        package let devices: [Device]
        package let recipients: Set<String>
        package let otherRecipients: Set<String>
        /// Whether the removal would leave no members, so that later changes would not be signed.
        package let leavesNobody: Bool

        /// The recipients that no remaining device uses. Their keys are removed together with the devices.
        package var lostRecipients: Set<String> { recipients.subtracting(otherRecipients) }
    }

    /// The state of a device that a member change has added.
    private struct Standing: Sendable {
        /// The change that added the device, and that change's index.
        var change: MemberRecord
        var index: Int
        /// The change that removed the device; nil if the device still belongs to a member.
        var removal: MemberRecord?

        var isMember: Bool { removal == nil }
    }

    package private(set) var history = MemberHistory()
    private let vaultID: [UInt8]
    /// The IDs of the latest member changes (without a successor) known when the data key was created.
    private let knownToKey: [Authenticator]
    /// The newest log position. New signatures state that their author has read the log up to this position.
    private let head: LogPosition
    private var standings: [DeviceID: Standing] = [:]

    /// Creates a list from all member changes. Throws `damaged` if a signature is invalid.
    package init(
        _ records: [MemberRecord], knownToKey: [Authenticator] = [], in vaultID: [UInt8], at head: LogPosition
    ) throws(LogError) {
        self.vaultID = vaultID
        self.head = head
        self.knownToKey = knownToKey
        for record in records { try history.append(record, in: vaultID) }
        evaluate()
    }

    package var records: [MemberRecord] { history.records }

    /// Whether there are no members. If so, changes are not signed.
    package var isEmpty: Bool { !standings.values.contains(where: \.isMember) }

    package var hasHistory: Bool { !records.isEmpty }

    /// The time when the last member was removed, in milliseconds since 1970; nil if a member exists or none ever did.
    package var endedAt: UInt64? { isEmpty ? standings.values.compactMap(\.removal?.change.time).max() : nil }

    /// The sequence number of the newest record before the first member was added; nil if no member was ever added.
    package var founding: UInt64? { records.first?.authorship.seen.sequence }

    package func isMember(_ device: Device) -> Bool {
        standings[device.id].map { $0.isMember && $0.change.change.device == device } ?? false
    }

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

    /// The IDs of the first member change, on which all others are based, and of all removals. Machines remember them.
    package var landmarks: [Authenticator] {
        (records.prefix(1) + records.dropFirst().filter(\.change.isRemoval)).map(\.id)
    }

    package func hasRemovals(otherThan brought: Set<Authenticator>) -> Bool {
        records.contains { $0.change.isRemoval && !brought.contains($0.id) }
    }

    /// Whether a removed member may have the data key, because that key was created before the removal.
    package var hasRemovalsUnknownToKey: Bool {
        records.indices.contains { records[$0].change.isRemoval && !history.isIncluded($0, by: knownToKey) }
    }

    /// Returns this list, extended by the changes that its members made in another copy. A list without members accepts
    /// anyone's changes. Omits changes by members whom this copy has removed, and changes based on an omitted change.
    ///
    /// - Throws: `damaged` if the signature of a change is invalid; `invalid` if there would be too many changes.
    package func joined(with others: [MemberRecord]) throws(LogError) -> MemberList {
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

    package func isMember(_ id: DeviceID) -> Bool { standings[id]?.isMember ?? false }

    package func wasAdded(_ id: DeviceID) -> Bool { standings[id] != nil }

    package func wasRemoved(_ id: DeviceID, otherThanBy brought: Set<Authenticator>) -> Bool {
        standings[id]?.removal.map { !brought.contains($0.id) } ?? false
    }

    // MARK: Signatures

    package enum Author: Hashable, Sendable {
        case member(String)
        /// A former member, who signed the statement after being removed.
        case removed(String)

        package var name: String {
            switch self {
            case .member(let name), .removed(let name): name
            }
        }
    }

    /// Returns the author of a signed statement. Throws `damaged` if the device is unknown or the signature is invalid.
    package func author(of authorship: Authorship, for statement: Statement) throws(LogError) -> Author {
        guard let device = history.device(authorship.author), authorship.isValid(for: statement, by: device) else {
            throw .damaged("a change whose signature is invalid")
        }
        let name = standings[device.id]?.change.change.name ?? device.text
        return wasMember(authorship) ? .member(name) : .removed(name)
    }

    /// Returns whether a state's author was a member at the log position that the signature states.
    package func wasMember(_ authorship: Authorship) -> Bool {
        guard let standing = standings[authorship.author] else { return false }
        // The author was still a member if the signature of their removal states a later log position than this one.
        return standing.removal.map { $0.authorship.seen.sequence > authorship.seen.sequence } ?? true
    }

    // MARK: Changes

    /// Adds a device to a new or existing member.
    ///
    /// - Parameters:
    ///   - recipient: the member's age recipient; empty if the member opens the vault in another way.
    ///   - key: the key of a member's device; if there are no members yet, the key of `device` itself.
    /// - Throws: `invalid` or `notMember`.
    package mutating func add(
        _ name: String, _ device: Device, recipient: String = "", signedBy key: DeviceKey
    ) throws(LogError) {
        guard NameRule.allows(name), name.utf8.count <= Manifest.labelSize else {
            throw LogError(.invalid, "a member's name must be one line of 1 to \(Manifest.labelSize) bytes")
        }
        guard standings[device.id].map({ !$0.isMember }) ?? true else {
            throw LogError(.invalid, "this device already belongs to a member")
        }
        guard !isEmpty || device == key.device else {
            throw LogError(.invalid, "the first member can be added only from their own device")
        }
        guard isEmpty || !isMember(key.device) || mayAdd(name, key.device.id) else {
            throw LogError(.invalid, "a member already has this name, and only that member's devices can add another")
        }
        try sign(isRemoval: false, name, device, recipient, by: key)
    }

    /// Returns the effect of removing a member, or only one of the member's devices.
    ///
    /// - Parameter device: the device to remove; nil for all devices of the member.
    /// - Throws: `invalid` if there is no such member, or the device does not belong to that member.
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

    /// Removes all devices of a member, or only one of them. Returns the effect.
    ///
    /// - Parameter allowsNobody: whether the last member may be removed.
    /// - Throws: the same errors as ``removal(of:device:)``; `lastMember`; `notMember`.
    @discardableResult
    package mutating func remove(
        _ name: String, device: Device? = nil, allowingNobody allowsNobody: Bool = false, signedBy key: DeviceKey
    ) throws(LogError) -> Removal {
        let removal = try removal(of: name, device: device)
        guard allowsNobody || !removal.leavesNobody else {
            throw LogError(.lastMember)
        }
        // The signing device is removed last, because it cannot sign after its own removal.
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

    /// Returns whether `author` may add a device under `name`. The name must be unused or the author's own.
    private func mayAdd(_ name: String, _ author: DeviceID) -> Bool {
        standings[author]?.change.change.name == name
            || !standings.values.contains { $0.isMember && $0.change.change.name == name }
    }

    private mutating func evaluate() {
        standings = [:]
        for index in history.counting {
            let record = history[index]
            let device = record.change.device
            let authorship = record.authorship
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
