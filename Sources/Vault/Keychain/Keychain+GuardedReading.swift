private import Glibc
import LinuxSystem
package import SealedLog

// Any value for a person, another program or a server is read with these methods, so that policies apply.

extension Keychain {
    /// Returns the value of an entry; nil if the entry does not exist. The entry's policy must permit the read. If the
    /// entry is a field, its login's policy must permit it too. If the access log is on, the read is recorded before
    /// the value is returned or refused. If the log cannot be written, the method throws and returns no value.
    ///
    /// - Parameters:
    ///   - reader: the name of the command, or of another reader that a policy may name.
    ///   - check: a further check of the entry's attributes.
    ///   - access: returns the access to record.
    /// - Throws: `guarded` if a policy forbids the read; the errors of `check` and of ``get(_:)``.
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
            // The read is refused either way, so an error of the access log is ignored.
            if found.isAccessLogged { try? accessLog.record { access().refused } }
            throw error
        }
        if found.isAccessLogged { try accessLog.record(access) }
        return found.takeValue()
    }

    /// Returns an entry's value and attributes, the attributes of `login`, and whether the access log is on; nil if the
    /// entry does not exist. Throws the same errors as ``get(_:)``.
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

/// A value, and the data that decides whether a command may return it.
struct GuardedSealable: ~Copyable {
    let value: SealableValue
    let attributes: [String: String]
    /// If the value is a field, the attributes of its login, even if the login has expired.
    let loginAttributes: [String: String]
    let isLoginPresent: Bool
    let isAccessLogged: Bool

    consuming func takeValue() -> SealableValue { value }
}

extension Access {
    /// Creates a record of a read by the parent process. An empty `name` means a switch of the access log instead.
    ///
    /// - Parameters:
    ///   - command: the command without its arguments, or another name for the reader.
    ///   - program: the program that is started with the value.
    package init(to name: String, by command: String, starting program: String? = nil) {
        let parent = getppid()
        self.init(
            name: name, command: command, program: LinuxSystem.program(ofProcess: parent) ?? "",
            process: UInt64(clamping: parent), user: UInt64(getuid()), started: program ?? "")
    }
}

extension Keychain {
    /// Acquires a named lock of the vault. While the lock is held, other processes can see only a hash of its name.
    ///
    /// For a vault in a database, the caller needs write access to the vault. If the connection to the server is lost,
    /// the lock is lost too; see ``NameLock/check()``.
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

    /// The type of a value, if one was specified when the value was stored. Later versions may add types.
    package struct ValueKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The number of the type in the file format.
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ kind: StoredKind) { rawValue = kind.rawValue }

        /// Bytes without a type. The `vault` command stores values as this kind unless `--type` is used.
        package static let unspecified = ValueKind(.unspecified)
        package static let text = ValueKind(.text)
        package static let data = ValueKind(.data)
        package static let boolean = ValueKind(.boolean)
        package static let integer = ValueKind(.integer)
        package static let real = ValueKind(.real)
        package static let date = ValueKind(.date)
        package static let array = ValueKind(.array)
        package static let dictionary = ValueKind(.dictionary)
        package static let null = ValueKind(.null)

        /// The name of the type, such as `text`, or `kind 17` for a type that this version does not support.
        package var description: String {
            StoredKind(rawValue: rawValue).map { String(describing: $0) } ?? "kind \(rawValue)"
        }
    }
}
