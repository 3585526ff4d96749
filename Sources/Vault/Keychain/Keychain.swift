package import LinuxSystem
import SealedLog

/// A vault of secrets: names and values, encrypted in one file.
///
/// ```swift
/// let keychain = try Keychain(at: .standard(), creatingIfAbsent: true)
/// try keychain.set("u.token", to: "secret")
/// let size = try keychain.withSecret("u.token") { token in token.byteCount }
/// ```
///
/// When a writing call returns, its change survives crashes and power losses. Several processes and threads may use one
/// vault at the same time without losing each other's writes. A keychain may be used from any thread. Calls block while
/// they read and write files.
///
/// Names are 1 to 1,024 bytes of UTF-8 without control characters, compared bytewise. Values are arbitrary bytes, up to
/// ``maximumValueSize``.
public final class Keychain: ValueStore, DataStore, SecretStore {
    package struct Created: Hashable, Sendable {
        package internal(set) var vault = false
        package internal(set) var keyFile = false
        /// Whether the new vault's key file is in the vault's folder, so that a backup of the folder includes both.
        package internal(set) var keyFileIsBesideVault = false
        /// Whether the new vault's key file has fewer than 16 bytes, and can therefore be guessed.
        package internal(set) var keyFileIsShort = false
    }

    /// The maximum size of a value in bytes (16 MiB).
    public static let maximumValueSize = Limits.valueSize

    /// The locations of the vault, its key file and the rollback memory.
    public let location: VaultLocation
    package let created: Created
    public let changes: ChangeFeed
    public let failures: FailureLog
    let offlineChanges: Copies.Merge?
    let keyFileSharing: SecretFile.Sharing?
    let options: Options
    let storeLocation: any StoreLocation
    let log: SealedLog
    /// The part of the vault that this keychain shows; nil if it shows the whole vault.
    let part: KeychainPart?

    /// Identifies this store. In this process, all keychains of the same part of a vault share a log and an identity.
    public var identity: StoreIdentity {
        StoreIdentity(log, scope: part?.prefix ?? "", showing: part?.showsOthers == true ? "" : nil)
    }

    /// Opens a vault.
    ///
    /// A vault whose key is missing or wrong is never replaced. If this machine remembers a vault that no longer
    /// exists, only ``create(at:label:options:failures:)`` replaces it with a new one.
    ///
    /// - Parameters:
    ///   - isCreating: whether to create the vault, and its key file, if they do not exist. A key file below
    ///     `/run/secrets`, where secrets are mounted, is not created. If it is missing there, the error is `locked`.
    ///   - failures: receives the errors that a property's getter or setter cannot throw, and problems that do not
    ///     make a call fail, such as an unusable rollback memory. Such a problem's key is the vault's path.
    /// - Throws: ``VaultError`` with `noVault`, `gone` if this machine remembers a vault that no longer exists,
    ///   `locked`, `damaged`, `newerFormat`, `rolledBack`, `diverged`, `exchanged`, `busy` or `unavailable`; `invalid`
    ///   for unusable paths, such as a folder, a path that begins with `~/`, or the same path for the vault and its key
    ///   file; `outcomeUnknown` as for ``create(at:label:options:failures:)``.
    public convenience init(
        at location: VaultLocation, creatingIfAbsent isCreating: Bool = false, options: Options = Options(),
        failures: FailureLog = FailureLog()
    ) throws(VaultError) {
        try self.init(at: location, nil, creatingIfAbsent: isCreating, options: options, failures: failures)
    }

    package convenience init(
        at location: VaultLocation, creatingIfAbsent isCreating: Bool, options: Options = Options(),
        failures: FailureLog = FailureLog(), in fileSystem: any FileSystem
    ) throws(VaultError) {
        try self.init(
            at: location, nil, creatingIfAbsent: isCreating, options: options, failures: failures, in: fileSystem)
    }

    convenience init(
        at location: VaultLocation, _ part: KeychainPart?, creatingIfAbsent isCreating: Bool,
        options: Options = Options(), failures: FailureLog, in fileSystem: any FileSystem = PosixFileSystem()
    ) throws(VaultError) {
        let opening = try KeychainOpening(location, options, fileSystem: fileSystem)
        let opened: KeychainOpening.Outcome
        do { opened = try opening.open(creatingIfAbsent: isCreating) } catch {
            // Opening may have saved the local copy to another file before it failed. Still report that file's path.
            for notice in opening.storeLocation.takeNotices() {
                guard case .copyKept = notice else { continue }
                failures.report(VaultError(notice, location), key: location.vault)
            }
            throw opening.refusal.translated(error, location)
        }
        self.init(opening, opened, failures, part)
    }

    /// Creates a vault, and its key file if there is none, even if this machine remembers a former vault at the path.
    ///
    /// - Parameters:
    ///   - label: the label of the vault's first key, for people to read, up to 256 bytes, sealed in the vault.
    ///   - failures: as for ``init(at:creatingIfAbsent:options:failures:)``.
    /// - Throws: ``VaultError`` with `exists` if there is a file at the vault's path; `locked` if the key file cannot
    ///   be used; `invalid` for an unusable path, among other reasons; `busy` or `unavailable` if no vault was created;
    ///   `outcomeUnknown` if the vault was created, but a power loss before its next use may undo it.
    public static func create(
        at location: VaultLocation, label: String = "", options: Options = Options(),
        failures: FailureLog = FailureLog()
    ) throws(VaultError) -> Keychain {
        try create(
            at: location, label: label, cost: .standard, replacingGone: true, options: options, failures: failures)
    }

    /// - Parameters:
    ///   - cost: the cost of deriving a key from a key file that was not generated. A higher cost slows down guessing.
    ///   - isReplacing: whether to create the vault even if this machine remembers one that no longer exists. If false,
    ///     the method throws `gone` in that case.
    package static func create(
        at location: VaultLocation, label: String = "", cost: KeyFileCost, replacingGone isReplacing: Bool,
        options: Options = Options(), failures: FailureLog = FailureLog()
    ) throws(VaultError) -> Keychain {
        let opening = try KeychainOpening(location, options)
        do throws(LogError) {
            let created = try opening.create(label: label, cost: cost, isAskedFor: true, replacingGone: isReplacing)
            return Keychain(opening, created, failures)
        } catch { throw opening.refusal.translated(error, location) }
    }

    private init(
        _ opening: KeychainOpening, _ opened: KeychainOpening.Outcome, _ failures: FailureLog,
        _ part: KeychainPart? = nil
    ) {
        location = opening.location
        options = opening.options
        log = opened.log
        created = opened.created
        keyFileSharing = opened.keyFileSharing
        storeLocation = opening.storeLocation
        changes = ChangeFeed { [log, storeLocation, location] (notify) throws(VaultError) in
            try location.translated(
                storeLocation.watch {
                    log.lookAtPath()
                    notify()
                })
        }
        self.failures = failures
        self.part = part
        offlineChanges = opened.offlineChanges
        if let notice = opened.notice { failures.report(notice, key: location.vault) }
        reportNotices()
    }

    // MARK: The log

    /// Runs an operation of the log, translates its error, and reports the log's notices.
    func translated<Result: ~Copyable>(
        _ operation: @autoclosure () throws(LogError) -> Result
    ) throws(VaultError) -> Result {
        defer { reportNotices() }
        do { return try operation() } catch { throw VaultError(error, location) }
    }

    /// Runs an operation that may wait for other processes, translates its error, and reports the log's notices.
    func waiting<Result>(
        _ progress: UpkeepProgress? = nil, _ body: (_ timeout: Duration) throws(LogError) -> Result
    ) throws(VaultError) -> Result {
        let result = try translated(options.waiting(for: location.vault, body))
        progress?.finish()
        return result
    }

    /// Reports problems that do not make a call fail. The caller must hold no lock.
    func reportNotices() {
        for notice in log.takeNotices() + storeLocation.takeNotices() {
            failures.report(VaultError(notice, location), key: location.vault)
        }
    }
}

extension Keychain: Redacted {
    /// The vault's path.
    public var description: String { described(Keychain.self, location.vault) }
}

// MARK: - Reading

extension Keychain {
    /// Returns the value of a name, in guarded memory; nil if there is none.
    ///
    /// - Throws: ``VaultError`` with `invalid` for an invalid name; `damaged`, `busy` or `unavailable`;
    ///   `rolledBack`, `diverged` or `exchanged` if the file has been replaced since the vault was opened.
    public func get(_ name: String) throws(VaultError) -> SecretBytes? {
        let name = try shownName(name)
        return try translated(log.open(name))
    }

    /// Returns the value of a name, and the value's kind; nil if there is none. Throws the same errors as ``get(_:)``.
    package func sealable(_ name: String) throws(VaultError) -> SealableValue? {
        let name = try shownName(name)
        guard let opened = try translated(log.openTagged(name)) else { return nil }
        return SealableValue(kind: ValueKind(rawValue: opened.kind), bytes: opened.takeBytes())
    }

    /// Calls `body` with the value of a name, in guarded memory that is wiped afterwards; returns nil if there is none.
    ///
    /// - Throws: the same errors as ``get(_:)`` and of `body`.
    public func withSecret<Result>(_ name: String, _ body: (RawSpan) throws -> Result) throws -> Result? {
        try get(name)?.withBytes(body)
    }

    /// Returns the value of a name as text, in ordinary memory that is never wiped; nil if there is none.
    ///
    /// - Throws: the same errors as ``get(_:)``; `wrongType` if the value is not UTF-8.
    public func unsafeString(_ name: String) throws(VaultError) -> String? {
        guard let value = try get(name) else { return nil }
        guard let text = value.unsafeString() else {
            throw VaultError(.wrongType, "The value of \"\(name)\" is not text, so it cannot be read as a String.")
        }
        return text
    }

    // MARK: Typed values, in ordinary memory

    public func value(of key: String) throws(VaultError) -> StoredValue? {
        let name = try shownName(key)
        guard let opened = try translated(log.openTagged(name)) else { return nil }
        return try StoredValue(opened, of: key)
    }

    public func contents(prefix: String) throws(VaultError) -> [String: StoredValue] {
        let values = try translated(
            log.openTagged(prefix: Array(ownName(prefix).utf8)) { [self] name, opened in
                let key = shortened(name.text)
                return Result { () throws(VaultError) in (key, try StoredValue(opened, of: key)) }
            })
        return Dictionary(try values.map { (value) throws(VaultError) in try value.get() }) { $1 }
    }
}

extension StoredValue {
    /// Decodes a value. Throws `unreadable` if a later version wrote it, or if its bytes are not valid for its kind.
    init(_ opened: borrowing OpenedValue, of key: String) throws(VaultError) {
        try self.init(opened.bytes, ofKind: opened.kind, key)
    }

    package init(_ value: borrowing SealableValue, of key: String) throws(VaultError) {
        try self.init(value.bytes, ofKind: value.kind.rawValue, key)
    }

    private init(_ bytes: borrowing SecretBytes, ofKind kind: UInt8, _ key: String) throws(VaultError) {
        let value = bytes.withUnsafeBytes { StoredValue(kind: kind, $0) }
        guard let value else {
            throw VaultError(
                .unreadable,
                "The value of \"\(key)\" is of the kind \(kind), which this version of the library cannot read.")
        }
        self = value
    }
}
