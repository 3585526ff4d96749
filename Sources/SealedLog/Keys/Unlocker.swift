import Sealing

/// Finds the credentials that may open a vault: from a key file, a typed passphrase, or an earlier opening.
package protocol Unlocker: ~Copyable {
    /// Returns the next credential to try on the slots; nil if there is none left. It is called again if that one
    /// opened no slot.
    mutating func next(for vault: LockedVault) throws(LogError) -> Credential?

    /// Starts again, since the file is read once more: what was read before may have been half written.
    mutating func restart()

    /// The reason why no credential opened the vault.
    var failure: LogError { get }

    /// Refuses an opened vault that is not to be trusted. Nothing has been remembered or returned yet.
    mutating func check(_ vault: UnlockedVault) throws(LogError)

    /// Remembers a vault that this machine has accepted. Throws a notice if that fails.
    ///
    /// - Parameter flush: makes the vault durable. It is called before anything new is remembered.
    func remember(_ vault: UnlockedVault, behind flush: () throws(LogError) -> Void) throws(Notice)
}

/// The public part of a vault, which is not authenticated yet.
package struct LockedVault: Hashable, Sendable {
    /// The 16 bytes of its id; empty if the header is damaged.
    package let vaultID: [UInt8]
    package let slots: [KeySlot]
}

/// A vault whose header is authentic under the key that opened it. The key itself may have been chosen by an attacker
/// who created the vault.
package struct UnlockedVault: Sendable {
    package let vaultID: [UInt8]
    package let keys: KeyRing
    /// The slots of the header, which may be those of another header than the one whose slot was opened.
    package let slots: [KeySlot]

    /// Returns the 16 bytes that identify the vault and its data key. A person who has only a recipient's public key
    /// cannot create another vault with them. Format.md, "Keys".
    package func fingerprint() throws(LogError) -> [UInt8] { try keys.fingerprint(of: vaultID) }
}

extension KeyRing {
    func fingerprint(of vaultID: [UInt8]) throws(LogError) -> [UInt8] {
        Array(try authenticate(vaultID, for: .commitment)[..<Authenticator.size])
    }
}
