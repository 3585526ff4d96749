import LinuxSystem
import SealedLog

extension Keychain.VaultKeys {
    /// Stores the key in the kernel keyring for a limited time. During that time, every process of this user (or only
    /// of this session) can open the vault without its passphrase, device or command.
    ///
    /// The stored key is the secret of the one key slot that has opened this keychain, never the data key. It is
    /// removed when the time is up, by ``lock(at:)``, or by a restart of the machine. Until then, other programs of the
    /// same user can read it.
    ///
    /// - Parameters:
    ///   - time: at least one second.
    ///   - onlyInThisSession: whether only processes of this login session can use the key.
    /// - Throws: ``VaultError`` with `invalid` if `time` is out of range; `unavailable` if this process has no kernel
    ///   keyring, as in most containers. The message gives the reason, and the vault still needs its secret each time.
    public func unlock(for time: Duration = .seconds(900), onlyInThisSession: Bool = false) throws(VaultError) {
        let seconds = time.components.seconds
        guard seconds > 0, let limit = UInt32(exactly: seconds) else {
            throw VaultError(.invalid, "A vault can be unlocked for at least one second and at most a century.")
        }
        let keys = keychain.log.keys
        guard let salt = keys.slot?.salt else { throw VaultError(.invalid, "This keychain was opened without a key.") }
        let slot = UnlockedSlot(keychain.log.vaultID, salt)
        let scope: KernelKeyring.Scope = onlyInThisSession ? .session : .user
        do {
            try keys.withWrappingKey { (key) throws(SystemError) in try slot.store(key, for: limit, in: scope) }
        } catch {
            throw VaultError(
                .unavailable, KernelKeyring.sentence(for: error) + " The vault will ask for its secret each time.",
                systemError: error.number)
        }
    }

    /// Removes from the kernel keyring the vault's keys that ``unlock(for:onlyInThisSession:)`` has stored. If the
    /// vault file does not exist or cannot be read, removes the stored keys of all vaults.
    ///
    /// - Returns: whether any key was removed.
    /// - Throws: ``VaultError/Code/unavailable`` if the system refuses the removal.
    @discardableResult
    public static func lock(at location: VaultLocation) throws(VaultError) -> Bool {
        try lockAll(at: location).wasUnlocked
    }

    /// Locks the vault at a location. If its ID cannot be read, locks all vaults, and `isOfAll` is true in the result.
    package static func lockAll(at location: VaultLocation) throws(VaultError) -> (wasUnlocked: Bool, isOfAll: Bool) {
        let id = (try? location.storeLocation(in: PosixFileSystem())).flatMap(SealedLog.vaultID)
        do {
            let count = try KernelKeyring.removeAll(prefix: UnlockedSlot.prefix(ofVault: id))
            return (count > 0, id == nil)
        } catch {
            throw VaultError(.unavailable, KernelKeyring.sentence(for: error), systemError: error.number)
        }
    }
}
