import Age
import LinuxSystem
package import SealedLog

// Members sign what they write. They are people with devices; each device has a key of its own.

extension Keychain {
    package var members: Members { Members(keychain: self) }

    /// The people who sign, with their devices: see ``Keychain/members``.
    package struct Members: Sendable {
        typealias Key = Keychain.VaultKeys.Key

        let keychain: Keychain
    }
}

extension Keychain.Members {
    /// Returns the members, in the order in which they came; none if nobody signs. Throws ``VaultError/Code/diverged``
    /// if the removal of a member is missing that this machine has seen; as ``Keychain/item(_:)``.
    package func all() throws(VaultError) -> [MemberList.Member] {
        try keychain.translated(keychain.log.members()).members
    }

    /// Whether there was ever a member. Throws as ``all()``.
    package var hasHistory: Bool {
        get throws(VaultError) { try keychain.translated(keychain.log.members()).hasHistory }
    }

    /// Adds a member, or another device of one.
    ///
    /// - Parameters:
    ///   - device: its text; nil for this machine's own.
    ///   - recipient: the member's public key of age, by which it opens the vault; nil if it has another key.
    /// - Throws: ``VaultError`` with `invalid` for a text that is no device or recipient, a device that is a member's
    ///   already, a new name that may look like another one, a recipient that is another member's, or a first member
    ///   that is not this machine; `locked` if this machine is no member's; as
    ///   ``Keychain/VaultKeys/addRecipient(_:label:)``.
    package func add(_ name: String, device: String?, recipient: String?) throws(VaultError) {
        let key = try keychain.translated(keychain.location.readDeviceKey())
        let device = try device.map { (text) throws(VaultError) in try parsedDevice(text) } ?? key.device
        let wrapped = try recipient.map { (recipient) throws(VaultError) in
            WrappedRecipient(recipient, try WrappedFileKey(for: recipient, asking: keychain.options.pluginPrompter))
        }
        try keychain.vaultKeys.changeKeys { (table) throws(LogError) in
            try table.members.checkAddition(of: name, recipient: recipient)
            try table.members.add(name, device, recipient: recipient ?? "", signedBy: key)
            guard let wrapped, !table.labels.contains(where: { $0.recipient == wrapped.recipient }) else { return }
            try table.add(wrapped.fileKey, for: wrapped.recipient, label: name)
        }
        if recipient != nil { keychain.remember { record, fingerprint in record.fingerprint = fingerprint } }
        _ = try all()
    }

    package struct Removal: Sendable {
        fileprivate let name: String
        fileprivate let device: Device?
        package var isOfDevice: Bool { device != nil }
        /// Whether the last member may be removed, so that nobody signs any more.
        fileprivate let allowsNobody: Bool
        /// The keys that are removed with it: those of its age identities.
        fileprivate let removedKeys: Set<Key>
        /// The keys that it may have besides, and that stay: whatever is not another member's own.
        package let sharedKeys: [Keychain.VaultKeys.Key]
        /// Members who stay, although it has added them, or somebody whom it has added; and who has.
        package let added: [(name: String, by: String)]
    }

    /// Returns what the removal of a member comes to. Nothing is changed.
    ///
    /// - Parameters:
    ///   - device: the text of the one device that is removed; nil for all.
    ///   - allowsNobody: whether the last member may be removed.
    /// - Throws: ``VaultError`` with `invalid` for a name that no member has, and for a device that is not the
    ///   member's; as ``Keychain/VaultKeys/all()``.
    package func removal(
        of name: String, device: String?, allowingNobody allowsNobody: Bool
    ) throws(VaultError) -> Removal {
        let parsed = try device.map { (text) throws(VaultError) in try parsedDevice(text) }
        let removal = try keychain.translated(keychain.log.members().removal(of: name, device: parsed))
        let (recipients, others) = (removal.recipients, removal.otherRecipients)
        let keys = try keychain.vaultKeys.all()
        let removed = keys.filter { $0.recipient.map(removal.lostRecipients.contains) ?? false }
        let shared = keys.filter { key in
            guard let recipient = key.recipient else { return true }
            // A recipient without an owner may be this member's. If only one device is removed, an identity that
            // another device also has was on this one.
            return recipients.contains(recipient) == others.contains(recipient)
        }
        return Removal(
            name: name, device: parsed, allowsNobody: allowsNobody, removedKeys: Set(removed), sharedKeys: shared,
            added: try all().added(by: name))
    }

    /// Removes a member: its devices sign no more, and its recipients open the vault no more. Returns the keys that
    /// still open it. The member may have kept the data key, which
    /// ``remove(_:rotatingAndDropping:replacing:progress:_:)`` rotates too. Throws ``VaultError`` with `invalid` for
    /// the last member; `locked` if this machine is no member's; as ``Keychain/VaultKeys/remove(_:)``.
    package func remove(_ member: Removal) throws(VaultError) -> [Keychain.VaultKeys.Key] {
        let key = try keychain.translated(keychain.location.readDeviceKey())
        let keys = try keychain.vaultKeys.changeKeys { (table) throws(LogError) in
            try table.remove(member, signedBy: key)
        }.keys
        _ = try all()
        return keys
    }

    /// Removes a member and rotates the data key, in one change. Throws as ``remove(_:)``,
    /// ``Keychain/VaultKeys/rotateDataKey(dropping:replacing:_:)``.
    package func remove(
        _ member: Removal, rotatingAndDropping dropped: Set<Keychain.VaultKeys.Key>,
        replacing replaced: Set<Keychain.VaultKeys.Key>,
        progress: UpkeepProgress?, _ secret: (Keychain.VaultKeys.Key) throws(VaultError) -> KeySecret?
    ) throws(VaultError) -> Keychain.VaultKeys.Rotation {
        let device = try keychain.translated(keychain.location.readDeviceKey())
        let rotation = try keychain.vaultKeys.rotateDataKey(
            dropping: dropped.union(member.removedKeys), replacing: replaced, progress: progress, secret,
            alsoChanging: { (table) throws(LogError) in
                try table.remove(member, signedBy: device)
                for key in dropped { try table.remove(key.salt) }
            })
        _ = try all()
        return rotation
    }

    /// Returns the changes of names that the vault has still, oldest first, with who has signed them. Throws as
    /// ``all()``; ``VaultError/Code/damaged`` for a signature that does not hold.
    package func loggedChanges() throws(VaultError) -> [LoggedChange] {
        try keychain.translated(keychain.log.loggedChanges(prefix: Array(keychain.ownName("").utf8)))
    }
}

private func parsedDevice(_ text: String) throws(VaultError) -> Device {
    guard let device = Device(text) else {
        throw VaultError(.invalid, "This is no device, or it is mistyped. It begins with vault-device-1-.")
    }
    return device
}

extension [MemberList.Member] {
    fileprivate func added(by name: String) -> [(name: String, by: String)] {
        var found: [(name: String, by: String)] = []
        var (authors, next) = ([name], 0)
        while next < authors.count {
            let author = authors[next]
            for member in self where member.addedBy == author && !authors.contains(member.name) {
                found.append((member.name, author))
                authors.append(member.name)
            }
            next += 1
        }
        return found
    }
}

extension MemberList {
    /// Throws `invalid` for a new name that may look like another member's, and for another member's recipient: who has
    /// signed a change, and whose key is removed, is told by them.
    fileprivate func checkAddition(of name: String, recipient: String?) throws(LogError) {
        for member in members where !member.name.utf8.elementsEqual(name.utf8) {
            guard !member.name.looksLike(name) else {
                throw LogError(.invalid, "the name looks like another member's; write it as that one, or give another")
            }
            guard recipient == nil || !member.machines.contains(where: { $0.recipient == recipient }) else {
                throw LogError(.invalid, "this public key is another member's")
            }
        }
        let isKnown = members.contains { $0.name.utf8.elementsEqual(name.utf8) }
        if !isKnown, let unseen = name.unseenPart {
            throw LogError(.invalid, "the name cannot be used, since \(unseen): it may look like another one")
        }
    }
}

extension SlotTable {
    fileprivate mutating func remove(_ member: Keychain.Members.Removal, signedBy key: DeviceKey) throws(LogError) {
        let lost = try members.remove(
            member.name, device: member.device, allowingNobody: member.allowsNobody, signedBy: key
        ).lostRecipients
        for (slot, label) in zip(slots, labels) where lost.contains(label.recipient) { try remove(slot.salt) }
    }
}

/// A recipient with a file key for it, for closures, which cannot capture what cannot be copied.
private final class WrappedRecipient: Sendable {
    let recipient: String
    let fileKey: WrappedFileKey

    init(_ recipient: String, _ fileKey: consuming WrappedFileKey) {
        self.recipient = recipient
        self.fileKey = fileKey
    }
}
