import SealedLog

extension Keychain {
    /// Makes all that this keychain shows last, whoever wrote it: a process that was killed before its flush leaves a
    /// change behind that can be read, and that power loss takes back.
    ///
    /// The keychain's own calls have no need of it: what they wrote lasts when they return.
    ///
    /// - Throws: ``VaultError`` with `damaged`, `busy`, `unavailable`, `outcomeUnknown`; `rolledBack`, `diverged` or
    ///   `exchanged` if the file was replaced meanwhile.
    public func makeDurable() throws(VaultError) {
        try waiting { (timeout) throws(LogError) in try log.makeDurable(timeout: timeout) }
    }
}
