package import Sealing

package struct LogKeySlot: Hashable, Sendable {
    /// The kind of key that opens the slot; nil if this version does not support it.
    package let kind: KeySlot.Kind?
    /// The cost parameters of Argon2id; nil if the secret is not stretched.
    package let limits: KeyDerivation.StretchLimits?
    /// The label that the slot was given when it was created. The file contains it only in sealed form.
    package let label: String
    /// The time of the slot's creation in milliseconds since 1970.
    package let creation: UInt64
    /// The public key of a recipient; empty for other kinds of slots.
    package let recipient: String
    /// The command that outputs the key; empty if there is none.
    package let command: String
    /// The salt. It identifies the slot within the vault.
    package let salt: [UInt8]
    package let isOwn: Bool

    package init(_ slot: KeySlot, _ label: SlotLabel, isOwn: Bool) {
        kind = KeySlot.Kind(rawValue: slot.kind)
        limits = slot.limits.passes == 0 ? nil : slot.limits
        self.label = label.text
        creation = label.created
        recipient = label.recipient
        command = slot.command ?? ""
        salt = slot.salt
        self.isOwn = isOwn
    }
}
