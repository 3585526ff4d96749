package import SealedLog

// The `vault` command records its reads; a program that uses the library does not yet.
/// A value, with what decides whether a command may give it out.
package struct GuardedSealable: ~Copyable {
    package let value: SealableValue
    package let attributes: [String: String]
    /// Those of the login whose field it is, also if that has expired.
    package let loginAttributes: [String: String]
    package let isLoginPresent: Bool
    package let isAccessLogged: Bool

    package consuming func takeValue() -> SealableValue { value }
}

extension Keychain {
    /// Returns the value of a name with its attributes, those of the login whose field it is, and whether the access
    /// log is on; nil if there is no value.
    ///
    /// - Throws: as ``get(_:)``.
    package func guardedValue(_ name: String, of login: String?) throws(VaultError) -> GuardedSealable? {
        let shownLogin = if let login { EntryName(try shownName(login)) } else { EntryName?.none }
        guard let shown = EntryName(try shownName(name)),
            let found = try translated(log.openGuarded(shown, of: shownLogin))
        else { return nil }
        let (attributes, isAccessLogged) = (Keychain.dictionary(found.attributes), found.isAccessLogged)
        let (loginAttributes, isLoginPresent) = (Keychain.dictionary(found.loginAttributes), found.isLoginPresent)
        let opened = found.takeValue()
        return GuardedSealable(
            value: SealableValue(kind: ValueKind(rawValue: opened.kind), bytes: opened.takeBytes()),
            attributes: attributes, loginAttributes: loginAttributes, isLoginPresent: isLoginPresent,
            isAccessLogged: isAccessLogged)
    }

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
            try log.recordAccess(in: location.rollbackMemory, evenIfOff: isForced, timeout: timeout, access)
        }
    }

    /// Checks that this machine has a log that can be written, though it may be off.
    ///
    /// - Throws: as ``recordAccess(evenIfOff:_:)``, but not `busy`.
    package func checkAccessLog() throws(VaultError) { try translated(log.checkAccessLog(in: location.rollbackMemory)) }

    /// Returns what was recorded on this machine, also if the log is off now.
    ///
    /// - Throws: as ``recordAccess(evenIfOff:_:)``.
    package func accesses() throws(VaultError) -> AccessReport {
        try waiting { (timeout) throws(LogError) in
            try log.accesses(in: location.rollbackMemory, timeout: timeout)
        }
    }

    /// Returns one word for what the vault's history ends with, for another machine to compare.
    package func head() throws(VaultError) -> String { try translated(log.headText()) }

    /// Returns whether this history includes another machine's head; nil if it is not that long.
    package func compare(head: String) throws(VaultError) -> Inclusion? { try translated(log.includesHead(head)) }

    /// The path of this machine's log; nil if there is no folder for it.
    package var accessLogPath: String? { location.rollbackMemory.map(log.accessLogPath) }
}
