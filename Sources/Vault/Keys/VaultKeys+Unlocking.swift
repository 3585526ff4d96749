import LinuxSystem
import SealedLog

extension Keychain.VaultKeys {
    /// Leaves the key in the kernel's memory for a while: until then, the vault opens without its passphrase, its
    /// device or its command, in every process of this user, or of this session alone.
    ///
    /// It is the secret of the one key that has opened this keychain, never the data key. It is gone when the time is
    /// over, with ``lock(at:)``, or when the machine restarts. Other programs of the same user can read it meanwhile.
    ///
    /// - Parameters:
    ///   - time: at least a second.
    ///   - onlyInThisSession: whether only processes of this login can use it.
    /// - Throws: ``VaultError`` with `unavailable` if the system has no such memory for this process, as in most
    ///   containers: the vault then asks each time. The message says why.
    public func unlock(for time: Duration = .seconds(900), onlyInThisSession: Bool = false) throws(VaultError) {
        let seconds = time.components.seconds
        guard seconds > 0, let limit = UInt32(exactly: seconds) else {
            throw VaultError(.invalid, "A vault is unlocked for at least a second and at most a century.")
        }
        let keys = keychain.log.keys
        guard let salt = keys.slot?.salt else { throw VaultError(.invalid, "This keychain was opened without a key.") }
        let slot = UnlockedSlot(keychain.log.vaultID, salt)
        let scope: KernelKeyring.Scope = onlyInThisSession ? .session : .user
        do {
            try keys.withWrappingKey { (key) throws(SystemError) in try slot.store(key, for: limit, in: scope) }
        } catch {
            throw VaultError(
                .unavailable, KernelKeyring.sentence(for: error) + " The vault asks each time.",
                systemError: error.number)
        }
    }

    /// Takes what ``unlock(for:onlyInThisSession:)`` has left of a vault out of the kernel's memory; of every vault, if
    /// the vault file is gone or cannot be read.
    ///
    /// - Returns: whether there was anything.
    /// - Throws: ``VaultError/Code/unavailable`` if the system refuses.
    @discardableResult
    public static func lock(at location: VaultLocation) throws(VaultError) -> Bool {
        try lockAll(at: location).wasUnlocked
    }

    /// Does the same, and returns whether every vault was locked: without the file, its id is unknown.
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
