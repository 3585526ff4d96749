import Age
import LinuxSystem
package import SealedLog

// Members sign what they write. They are people with devices; each device has a key of its own.

extension Keychain {
    /// Returns the members, in the order in which they came; none if nobody signs.
    ///
    /// - Throws: ``VaultError/Code/diverged`` if the removal of a member is missing that this machine has seen; as
    ///   ``item(_:)``.
    package func members() throws(VaultError) -> [MemberList.Member] { try translated(log.members()).members }

    /// Adds a member, or another device of one.
    ///
    /// - Parameters:
    ///   - device: its text; nil for this machine's own.
    ///   - recipient: the member's public key of age, by which it opens the vault; nil if it has another key.
    /// - Throws: ``VaultError`` with `invalid` for a text that is no device or recipient, a device that is a member's
    ///   already, or a first member that is not this machine; `locked` if this machine is no member's; as
    ///   ``addRecipient(_:label:)``.
    package func addMember(_ name: String, device: String?, recipient: String?) throws(VaultError) {
        let key = try translated(places.readDeviceKey())
        guard let device = device.map(Device.init) ?? key.device else {
            throw VaultError(.invalid, "This is no device, or it is mistyped. It begins with vault-device-1-.")
        }
        let wrapped = try recipient.map { (recipient) throws(VaultError) in
            WrappedRecipient(recipient, try WrappedFileKey(for: recipient, asking: options.pluginPrompter))
        }
        try changeKeys { (table) throws(LogError) in
            try table.members.add(name, device, recipient: recipient ?? "", signedBy: key)
            guard let wrapped, !table.labels.contains(where: { $0.recipient == wrapped.recipient }) else { return }
            try table.add(wrapped.fileKey, for: wrapped.recipient, label: name)
        }
        if recipient != nil { remember { record, fingerprint in record.fingerprint = fingerprint } }
        _ = try members()
    }

    /// Removes a member: its devices sign no more, and its recipients open the vault no more. Who had the data key has
    /// it still: ``rotateDataKey(dropping:_:)`` must follow.
    ///
    /// - Throws: ``VaultError`` with `invalid` for a name that no member has, and for the last one; `locked` if this
    ///   machine is no member's; as ``removeKey(_:)``.
    package func removeMember(_ name: String) throws(VaultError) {
        let key = try translated(places.readDeviceKey())
        try changeKeys { (table) throws(LogError) in
            let recipients = Set(try table.members.remove(name, signedBy: key))
            for (slot, label) in zip(table.slots, table.labels) where recipients.contains(label.recipient) {
                try table.remove(slot.salt)
            }
        }
        _ = try members()
    }

    /// Returns the changes of names that the vault has still, oldest first, with who has signed them.
    ///
    /// - Throws: as ``members()``; ``VaultError/Code/damaged`` for a signature that does not hold.
    package func loggedChanges() throws(VaultError) -> [LoggedChange] {
        try translated(log.loggedChanges(prefix: Array(ownName("").utf8)))
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
