package import SealedLog

// The `vault` command records its reads; a program that uses the library does not yet.

extension Keychain {
    package var accessLog: AccessLog { AccessLog(keychain: self) }

    /// This machine's list of reads.
    package struct AccessLog: Sendable { let keychain: Keychain }
}

extension Keychain.AccessLog {
    /// Whether the vault requires that reads of its values are recorded. Throws as ``Keychain/item(_:)``.
    package func isOn() throws(VaultError) -> Bool { try keychain.translated(keychain.log.isAccessLogged()) }

    /// Switches the access log on or off, for all who use the vault. Throws as ``Keychain/eraseRemoved()``.
    package func set(on isLogged: Bool) throws(VaultError) {
        try keychain.waiting { (timeout) throws(LogError) in
            try keychain.log.setAccessLogged(isLogged, timeout: timeout)
        }
    }

    /// Records an access on this machine, if the vault's access log is on. Throws ``VaultError`` with `unavailable` if
    /// the log is on and cannot be written, `busy`; as ``Keychain/item(_:)``.
    package func record(evenIfOff isForced: Bool = false, _ access: () -> Access) throws(VaultError) {
        try keychain.waiting { (timeout) throws(LogError) in
            try keychain.log.recordAccess(
                in: keychain.location.rollbackMemory, evenIfOff: isForced, timeout: timeout, access)
        }
    }

    /// Checks that this machine has a log that can be written, though it may be off. Throws as
    /// ``record(evenIfOff:_:)``, but not `busy`.
    package func check() throws(VaultError) {
        try keychain.translated(keychain.log.checkAccessLog(in: keychain.location.rollbackMemory))
    }

    /// Returns the accesses that were recorded on this machine, even if the log is off now. Throws as
    /// ``record(evenIfOff:_:)``.
    package func report() throws(VaultError) -> AccessReport {
        try keychain.waiting { (timeout) throws(LogError) in
            try keychain.log.accesses(in: keychain.location.rollbackMemory, timeout: timeout)
        }
    }

    /// The path of this machine's log; nil if there is no folder for it.
    package var path: String? { keychain.location.rollbackMemory.map(keychain.log.accessLogPath) }
}
