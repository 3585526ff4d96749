package import SealedLog

// Only the `vault` command records its reads. Programs that use the library do not record theirs yet.

extension Keychain {
    package var accessLog: AccessLog { AccessLog(keychain: self) }

    /// This machine's log of reads of the vault's values.
    package struct AccessLog: Sendable { let keychain: Keychain }
}

extension Keychain.AccessLog {
    /// Returns whether the vault requires a record of each read. Throws the same errors as ``Keychain/item(_:)``.
    package func isOn() throws(VaultError) -> Bool { try keychain.translated(keychain.log.isAccessLogged()) }

    /// Switches the access log on or off, for all users of the vault. Throws the errors of ``Keychain/eraseRemoved()``.
    package func set(on isLogged: Bool) throws(VaultError) {
        try keychain.waiting { (timeout) throws(LogError) in
            try keychain.log.setAccessLogged(isLogged, timeout: timeout)
        }
    }

    /// Records an access on this machine if the vault's access log is on, or if `isForced` is true. Throws
    /// `unavailable` if the log cannot be written, `busy`, or one of the same errors as ``Keychain/item(_:)``.
    package func record(evenIfOff isForced: Bool = false, _ access: () -> Access) throws(VaultError) {
        try keychain.waiting { (timeout) throws(LogError) in
            try keychain.log.recordAccess(
                in: keychain.location.rollbackMemory, evenIfOff: isForced, timeout: timeout, access)
        }
    }

    /// Checks that this machine's access log can be written, even if logging is off. Throws the errors of
    /// ``record(evenIfOff:_:)``, except `busy`.
    package func check() throws(VaultError) {
        try keychain.translated(keychain.log.checkAccessLog(in: keychain.location.rollbackMemory))
    }

    /// Returns the accesses that were recorded on this machine, even if the access log is currently off. Throws the
    /// errors of ``record(evenIfOff:_:)``.
    package func report() throws(VaultError) -> AccessReport {
        try keychain.waiting { (timeout) throws(LogError) in
            try keychain.log.accesses(in: keychain.location.rollbackMemory, timeout: timeout)
        }
    }

    /// The path of this machine's access log, in the rollback memory's folder; nil if there is no rollback memory.
    package var path: String? { keychain.location.rollbackMemory.map(keychain.log.accessLogPath) }
}
