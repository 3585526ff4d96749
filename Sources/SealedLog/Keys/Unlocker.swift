import Sealing

/// Finds what opens a vault: a key file, a passphrase that a person types, what an earlier opening left.
package protocol Unlocker: ~Copyable {
    /// Returns what to try next on the slots; nil if nothing is left. Called again if it opened none.
    mutating func next(for vault: LockedVault) throws(LogError) -> Credential?

    /// Begins anew, since the file is read once more: what it found before may have been half written.
    mutating func restart()

    /// Why nothing opened the vault.
    var failure: LogError { get }

    /// Refuses a vault that was opened and is not to be trusted. Nothing has been remembered or returned yet.
    mutating func check(_ vault: UnlockedVault) throws(LogError)

    /// Remembers a vault that this machine has accepted. Throws a notice if that fails.
    ///
    /// - Parameter flush: makes the vault durable; called before something new is remembered.
    func remember(_ vault: UnlockedVault, behind flush: () throws(LogError) -> Void) throws(Notice)
}

/// What can be known of a vault without a key: not authentic.
package struct LockedVault: Hashable, Sendable {
    /// The 16 bytes of its id; empty if the header is damaged.
    package let vaultID: [UInt8]
    package let slots: [KeySlot]
}

/// A vault whose header is authentic under the key that opened it: whoever made it has chosen that key.
package struct UnlockedVault: Sendable {
    package let vaultID: [UInt8]
    package let keys: KeyRing
    /// Those of the header, which need not be the one whose slot was opened.
    package let slots: [KeySlot]

    init(vaultID: [UInt8], keys: KeyRing, slots: [KeySlot]) {
        (self.vaultID, self.keys, self.slots) = (vaultID, keys, slots)
    }

    /// Identifies the vault and its data key, 16 bytes: who knows only a recipient's public key cannot make another
    /// vault with it. Format.md, "Keys".
    package func fingerprint() throws(LogError) -> [UInt8] { try keys.fingerprint(of: vaultID) }
}

extension KeyRing {
    func fingerprint(of vaultID: [UInt8]) throws(LogError) -> [UInt8] {
        Array(try authenticate(vaultID, for: .commitment)[..<Authenticator.size])
    }
}
