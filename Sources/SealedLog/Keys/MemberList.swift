import LinuxSystem
import Sealing

/// Who may sign changes of a vault, by what members before them have signed; Format.md, "Members".
package struct MemberList: Sendable {
    /// A member, with all devices of that name.
    package struct Member: Hashable, Sendable {
        package let name: String
        package fileprivate(set) var devices: [Device]
        package fileprivate(set) var recipients: [String]
        /// Since when, in milliseconds since 1970.
        package let since: UInt64
        /// Who added it.
        package let addedBy: String
    }

    /// What is known of a device that has ever been named.
    private struct Standing: Sendable {
        let device: Device
        /// The change that added it; nil if that was none of a member.
        var change: MemberRecord?
        /// What the history ended with when it was removed.
        var removed: LogPosition?

        var isMember: Bool { change != nil && removed == nil }
    }

    private(set) var records: [MemberRecord]
    private let vaultID: [UInt8]
    /// What the history ends with, for what is signed now.
    private let head: LogPosition
    private var standings: [DeviceID: Standing] = [:]

    /// - Throws: `damaged` if a change was not signed by whom it names.
    init(_ records: [MemberRecord], in vaultID: [UInt8], at head: LogPosition) throws(LogError) {
        (self.records, self.vaultID, self.head) = ([], vaultID, head)
        for record in records { try append(record) }
    }

    package var isEmpty: Bool { records.isEmpty }

    /// The number of the newest record from before there were members; nil without members.
    var founding: UInt64? { records.first?.authorship.seen.sequence }

    package func isMember(_ device: Device) -> Bool {
        standings[device.id].map { $0.isMember && $0.device == device } ?? false
    }

    /// The members in the order in which they came.
    package var members: [Member] {
        var members: [Member] = []
        for change in records.map(\.change) where !change.isRemoval {
            guard let standing = standings[change.device.id], standing.isMember, standing.change?.change == change
            else {
                continue
            }
            if let index = members.firstIndex(where: { $0.name == change.name }) {
                members[index].devices.append(change.device)
                if !change.recipient.isEmpty { members[index].recipients.append(change.recipient) }
            } else {
                let author = standing.change.flatMap { standings[$0.authorship.author]?.change?.change.name }
                members.append(
                    Member(
                        name: change.name, devices: [change.device],
                        recipients: change.recipient.isEmpty ? [] : [change.recipient], since: change.time,
                        addedBy: author ?? ""))
            }
        }
        return members
    }

    /// What a machine remembers of it: the first change, which all others rest on, and the removals, each by the start
    /// of its signature.
    var landmarks: [Authenticator] {
        (records.prefix(1) + records.dropFirst().filter(\.change.isRemoval)).map {
            $0.authorship.signature.withUnsafeBytes { Authenticator($0) }
        }
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
        guard let standing = standings[authorship.author], authorship.isValid(for: statement, by: standing.device)
        else {
            throw .damaged("a change that was not signed by whom it names")
        }
        let name = standing.change?.change.name ?? standing.device.text
        let isLate = standing.removed.map { $0.sequence <= authorship.seen.sequence } ?? false
        return standing.change == nil || isLate ? .removed(name) : .member(name)
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

    /// Removes a member with all devices, and returns what it opened the vault by.
    ///
    /// - Throws: `invalid` for a name that no member has, or the last member's; `notMember`.
    package mutating func remove(_ name: String, signedBy key: DeviceKey) throws(LogError) -> [String] {
        let members = members
        guard let member = members.first(where: { $0.name == name }) else {
            throw LogError(.invalid, "no member has that name")
        }
        guard members.count > 1 else { throw LogError(.invalid, "the last member cannot be removed") }
        // One's own device signs until the end.
        for device in member.devices.sorted(by: { left, _ in left != key.device }) {
            try sign(isRemoval: true, name, device, "", by: key)
        }
        return member.recipients
    }

    private mutating func sign(
        isRemoval: Bool, _ name: String, _ device: Device, _ recipient: String, by key: DeviceKey
    ) throws(LogError) {
        guard isEmpty || isMember(key.device) else { throw LogError(.notMember, key.device.text) }
        guard records.count < MemberChange.limit else {
            throw LogError(.invalid, "the members have changed \(MemberChange.limit) times, and cannot change again")
        }
        // Clocks differ, and go back.
        let time = max(Clock.milliseconds, records.last.map { $0.change.time + 1 } ?? 0)
        let change = MemberChange(isRemoval: isRemoval, time: time, name: name, device: device, recipient: recipient)
        let authorship = try key.sign(Statement(change, in: vaultID), after: head)
        try append(MemberRecord(change: change, authorship: authorship))
    }

    /// Whether a device may add one of a name: nobody gets into another member's name.
    private func mayAdd(_ name: String, _ author: DeviceID) -> Bool {
        standings[author]?.change?.change.name == name
            || !standings.values.contains { $0.isMember && $0.change?.change.name == name }
    }

    /// Adds a change that a member has signed. That of somebody else has no effect: two copies of a vault that were
    /// merged may have had different members.
    private mutating func append(_ record: MemberRecord) throws(LogError) {
        let (change, authorship) = (record.change, record.authorship)
        let isOwn = !change.isRemoval && authorship.author == change.device.id
        guard let author = standings[authorship.author]?.device ?? (isOwn ? change.device : nil),
            authorship.isValid(for: Statement(change, in: vaultID), by: author)
        else { throw .damaged("a change of the members that was not signed by whom it names") }
        let counts = records.isEmpty || standings[authorship.author]?.isMember == true
        records.append(record)
        let standing = standings[change.device.id] ?? Standing(device: change.device)
        standings[change.device.id] = standing
        guard counts, standing.device == change.device else { return }
        if change.isRemoval {
            standings[change.device.id]?.removed = authorship.seen
        } else if !standing.isMember, mayAdd(change.name, authorship.author) {
            standings[change.device.id] = Standing(device: change.device, change: record)
        }
    }
}
