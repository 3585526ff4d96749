import Age
import LinuxSystem
package import SealedLog

// Members are people who sign their changes. A member has one or more devices, each with its own key.

extension Keychain {
    package var members: Members { Members(keychain: self) }

    /// The members of a vault, with their devices.
    package struct Members: Sendable {
        typealias Key = Keychain.VaultKeys.Key

        let keychain: Keychain
    }
}

extension Keychain.Members {
    /// Returns the members in the order of their addition. Throws ``VaultError/Code/diverged`` if the vault lacks a
    /// member's removal that this machine has seen; the errors of ``Keychain/item(_:)``.
    package func all() throws(VaultError) -> [MemberList.Member] {
        try keychain.translated(keychain.log.members()).members
    }

    /// Whether the vault has ever had a member. Throws the same errors as ``all()``.
    package var hasHistory: Bool {
        get throws(VaultError) { try keychain.translated(keychain.log.members()).hasHistory }
    }

    /// Adds a member, or another device of an existing member.
    ///
    /// - Parameters:
    ///   - device: the text that identifies the device; nil for this machine.
    ///   - recipient: the age public key with which the member opens the vault; nil if the member has another key.
    /// - Throws: ``VaultError`` with `invalid` if `device` or `recipient` is malformed, if another member has the
    ///   recipient, if any member has the device, if a new name could be mistaken for another one, or if the first
    ///   member's device is not this machine; `locked` if this machine does not belong to a member; the errors of
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
        /// Whether this machine's device is removed while members remain. If so, this machine can no longer sign.
        package let leavesThisMachineOut: Bool
        /// Whether the last member may be removed. Without members, changes are no longer signed.
        fileprivate let allowsNobody: Bool
        /// The keys of the member's age identities, which are removed with the member.
        fileprivate let removedKeys: Set<Key>
        /// The keys that the removal keeps although the member may have them. Other members' own keys are omitted.
        package let sharedKeys: [Keychain.VaultKeys.Key]
        /// The members whom this member added, directly or indirectly, and who added each (`by`). They stay members.
        package let added: [(name: String, by: String)]
    }

    /// Returns the effects of removing a member, without changing anything.
    ///
    /// - Parameters:
    ///   - device: the text that identifies the device to remove; nil to remove the member with all devices.
    ///   - allowsNobody: whether the last member may be removed.
    /// - Throws: ``VaultError`` with `invalid` if no member has the name, or the device does not belong to that member;
    ///   the same errors as ``Keychain/VaultKeys/all()``.
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
            // A key counts as shared if its recipient belongs to no known member, since it may be this one's, or if the
            // removed device shares its identity with another device, because it is then kept.
            return recipients.contains(recipient) == others.contains(recipient)
        }
        let own = (try? keychain.location.readDeviceKey())?.device
        return Removal(
            name: name, device: parsed,
            leavesThisMachineOut: !removal.leavesNobody && own.map(removal.devices.contains) ?? false,
            allowsNobody: allowsNobody, removedKeys: Set(removed), sharedKeys: shared,
            added: try all().added(by: name))
    }

    /// Removes a member. The member's devices can no longer sign, and the member's identities no longer open the vault.
    /// Returns the keys that still open the vault. The member may have kept the data key; to rotate it too, call
    /// ``remove(_:rotatingAndDropping:replacing:progress:_:)``. Throws ``VaultError`` with `invalid` for the last
    /// member; `locked` if this machine does not belong to a member; the errors of ``Keychain/VaultKeys/remove(_:)``.
    package func remove(_ member: Removal) throws(VaultError) -> [Keychain.VaultKeys.Key] {
        let key = try keychain.translated(keychain.location.readDeviceKey())
        let keys = try keychain.vaultKeys.changeKeys { (table) throws(LogError) in
            try table.remove(member, signedBy: key)
        }.keys
        _ = try all()
        return keys
    }

    /// Removes a member and rotates the data key in one commit. Throws the same errors as ``remove(_:)`` and
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

    /// Returns the entry changes that the vault still contains, oldest first, with their authors. Throws the errors of
    /// ``all()``, and ``VaultError/Code/damaged`` for an invalid signature.
    package func loggedChanges() throws(VaultError) -> [LoggedChange] {
        try keychain.translated(keychain.log.loggedChanges(prefix: Array(keychain.ownName("").utf8)))
    }
}

private func parsedDevice(_ text: String) throws(VaultError) -> Device {
    guard let device = Device(text) else {
        throw VaultError(
            .invalid, "Invalid device: mistyped, incomplete or not a device. It must begin with vault-device-1-.")
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
    /// Throws `invalid` if a new name looks like another member's, since names identify signers, or if another member
    /// has `recipient`, since recipients determine which keys a removal affects.
    fileprivate func checkAddition(of name: String, recipient: String?) throws(LogError) {
        for member in members where !member.name.utf8.elementsEqual(name.utf8) {
            guard !member.name.looksLike(name) else {
                throw LogError(.invalid, "the name looks like another member's; use the same spelling or another name")
            }
            guard recipient == nil || !member.machines.contains(where: { $0.recipient == recipient }) else {
                throw LogError(.invalid, "this public key already belongs to another member")
            }
        }
        let isKnown = members.contains { $0.name.utf8.elementsEqual(name.utf8) }
        if !isKnown, let unseen = name.unseenPart {
            throw LogError(.invalid, "the name could be mistaken for another one, because \(unseen)")
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

/// A recipient and its wrapped file key, in a class because closures cannot capture noncopyable values.
private final class WrappedRecipient: Sendable {
    let recipient: String
    let fileKey: WrappedFileKey

    init(_ recipient: String, _ fileKey: consuming WrappedFileKey) {
        self.recipient = recipient
        self.fileKey = fileKey
    }
}
