private import Glibc
import LinuxSystem
package import SealedLog
import Sealing

// All values that are read for a person, another program or a server are read by these methods.

extension Keychain {
    /// Returns the value of an entry; nil if there is none. It keeps to the entry's policy and that of the login whose
    /// field it is, and records the read in the access log before it returns the value, also one that it refuses. If
    /// the log is on and cannot be written, nothing is read.
    ///
    /// - Parameters:
    ///   - reader: the name of a command, or of what else reads for others: a policy may name it.
    ///   - check: what else its attributes have to say.
    ///   - access: what is recorded.
    /// - Throws: `guarded` by the policy; what `check` throws; as ``get(_:)``.
    package func read(
        _ name: String, for reader: String,
        check: (_ attributes: [String: String]) throws(VaultError) -> Void = { _ in }, access: () -> Access
    ) throws(VaultError) -> SealableValue? {
        let login = Login.split(name)?.login
        guard let found = try guardedValue(name, of: login) else { return nil }
        do throws(VaultError) {
            try ReadingPolicy.check(found.attributes, of: name, for: reader)
            if let login {
                try ReadingPolicy.check(found.loginAttributes, of: login, isThere: found.isLoginPresent, for: reader)
            }
            try check(found.attributes)
        } catch {
            // Nothing is given out, whether that can be recorded or not.
            if found.isAccessLogged { try? accessLog.record { access().refused } }
            throw error
        }
        if found.isAccessLogged { try accessLog.record(access) }
        return found.takeValue()
    }

    /// Returns the value of a name with its attributes, those of the login whose field it is, and whether the access
    /// log is on; nil if there is no value. Throws as ``get(_:)``.
    func guardedValue(_ name: String, of login: String?) throws(VaultError) -> GuardedSealable? {
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
}

/// A value, with what decides whether a command may give it out.
struct GuardedSealable: ~Copyable {
    let value: SealableValue
    let attributes: [String: String]
    /// The attributes of the login whose field it is, even if the login has expired.
    let loginAttributes: [String: String]
    let isLoginPresent: Bool
    let isAccessLogged: Bool

    consuming func takeValue() -> SealableValue { value }
}

extension Access {
    /// Describes a read by this process, which another one has started; or, with an empty name, a switch of the log.
    ///
    /// - Parameters:
    ///   - command: the words of the command, or what else reads.
    ///   - program: the program that is started with the value.
    package init(to name: String, by command: String, starting program: String? = nil) {
        let parent = getppid()
        self.init(
            name: name, command: command, program: LinuxSystem.program(ofProcess: parent) ?? "",
            process: UInt64(clamping: parent), user: UInt64(getuid()), started: program ?? "")
    }
}

extension Keychain {
    /// Acquires a lock that belongs to the vault. Others see only a hash of its name, while it is held.
    ///
    /// For a vault in a database, this requires write access to the vault. The lock is lost with the connection to the
    /// server: see ``NameLock/check()``.
    public func acquireLock(_ name: String) async throws(VaultError) -> NameLock {
        let lock = try translated(storeLocation.namedLock(Int64(RunningHash.number(of: ownName(name)))))
        try await NameLock.wait { () throws(VaultError) in try translated(lock.tryLock()) }
        return NameLock {
            () throws(VaultError) in
            try self.translated(lock.check())
        } onRelease: {
            _ = lock
        }
    }
}
