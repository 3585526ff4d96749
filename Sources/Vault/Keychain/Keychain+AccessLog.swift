package import SealedLog

// The `vault` command records its reads; a program that uses the library does not yet.
extension Keychain {
    /// Whether the vault says that the reads of its values are recorded.
    ///
    /// - Throws: as ``item(_:)``.
    package func isAccessLogged() throws(VaultError) -> Bool { try translated(log.isAccessLogged()) }

    /// Switches the access log on or off, for all who use the vault.
    ///
    /// - Throws: as ``eraseRemoved()``.
    package func setAccessLogged(_ isLogged: Bool) throws(VaultError) {
        try waiting { (timeout) throws(LogError) in try log.setAccessLogged(isLogged, timeout: timeout) }
    }

    /// Records an access on this machine, if the vault says so.
    ///
    /// - Throws: ``VaultError`` with `unavailable` if the log is on and cannot be written, `busy`; as ``item(_:)``.
    package func recordAccess(evenIfOff isForced: Bool = false, _ access: () -> Access) throws(VaultError) {
        try waiting { (timeout) throws(LogError) in
            try log.recordAccess(in: places.rollbackMemory, evenIfOff: isForced, timeout: timeout, access)
        }
    }

    /// Returns what was recorded on this machine, also if the log is off now.
    ///
    /// - Throws: as ``recordAccess(evenIfOff:_:)``.
    package func accesses() throws(VaultError) -> AccessReport {
        try waiting { (timeout) throws(LogError) in
            try log.accesses(in: places.rollbackMemory, timeout: timeout)
        }
    }

    /// The path of this machine's log; nil if there is no folder for it.
    package var accessLogPath: String? { places.rollbackMemory.map(log.accessLogPath) }
}
