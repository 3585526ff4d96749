import Sealing

/// A source of credentials that may open a vault, such as a key file, a typed passphrase or the kernel's keyring.
package protocol Unlocker: ~Copyable {
    /// Returns the next credential to try; nil if none is left. The log calls this method until one opens a slot.
    mutating func next(for vault: LockedVault) throws(LogError) -> Credential?

    /// Starts over with the first credential. The log calls this method before it reads the file again, because the
    /// first read may have returned incomplete data.
    mutating func restart()

    /// The reason why no credential opened the vault.
    var failure: LogError { get }

    /// Throws if an opened vault cannot be trusted. The log calls this method before it remembers or returns the vault.
    mutating func check(_ vault: UnlockedVault) throws(LogError)

    /// Remembers a vault that this machine has accepted. Throws a notice if the vault cannot be remembered.
    ///
    /// - Parameter flush: makes the vault durable. It is called before this machine remembers anything new.
    func remember(_ vault: UnlockedVault, behind flush: () throws(LogError) -> Void) throws(Notice)
}

/// The public part of a vault. It is not authenticated yet.
package struct LockedVault: Hashable, Sendable {
    /// The vault ID (16 bytes); empty if the header is damaged.
    package let vaultID: [UInt8]
    package let slots: [KeySlot]

    package init(vaultID: [UInt8], slots: [KeySlot]) {
        self.vaultID = vaultID
        self.slots = slots
    }
}

/// A vault whose header is authentic under the key that opened it. An attacker may have created both header and key.
package struct UnlockedVault: Sendable {
    package let vaultID: [UInt8]
    package let keys: KeyRing
    /// The key slots in the header. They may lack the slot that opened the vault, if that slot was in another header.
    package let slots: [KeySlot]

    package init(vaultID: [UInt8], keys: KeyRing, slots: [KeySlot]) {
        self.vaultID = vaultID
        self.keys = keys
        self.slots = slots
    }

    /// Returns the fingerprint: 16 bytes that identify the vault and its data key; see Format.md, "Keys". A person who
    /// knows only a recipient's public key cannot create another vault with the same fingerprint.
    package func fingerprint() throws(LogError) -> [UInt8] { try keys.fingerprint(of: vaultID) }
}

extension KeyRing {
    package func fingerprint(of vaultID: [UInt8]) throws(LogError) -> [UInt8] {
        Array(try authenticate(vaultID, for: .commitment)[..<Authenticator.size])
    }
}
