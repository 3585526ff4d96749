import FoundationEssentials
import LinuxSystem
import SealedLog

/// The program's keychain as a store. It is opened on first use. Reading does not create the vault.
final class StandardKeychain: SecretStore {
    static let shared = {
        let identity = VaultApp.fixedIdentity()
        let vault = identity?.standardVault ?? StandardVault()
        if let own = vault.own { return StandardKeychain(nil) { own } }
        let part = KeychainPart(prefix: (identity?.name ?? VaultApp.fileName).scopePrefix, showsOthers: identity == nil)
        return StandardKeychain(part) { () throws(VaultError) in
            try VaultLocation.standard(databases: vault.databases)
        }
    }()

    private let part: KeychainPart?
    private let location: @Sendable () throws(VaultError) -> VaultLocation
    private let keychain = Mutex<Keychain?>(nil)
    /// The feed of changes at the vault's location for observers that subscribe before the vault can be opened.
    private let feed = Mutex<ChangeFeed?>(nil)

    init(_ part: KeychainPart?, _ location: @escaping @Sendable () throws(VaultError) -> VaultLocation) {
        self.part = part
        self.location = location
    }

    func opened() throws(VaultError) -> Keychain? {
        do { return try open(creatingIfAbsent: false) } catch {
            guard error.code == .noVault else { throw error }
            return nil
        }
    }

    func open(creatingIfAbsent isCreating: Bool) throws(VaultError) -> Keychain {
        if let keychain = keychain.withLock({ $0 }) { return keychain }
        // The mutex is not held here, as opening the vault may wait for another process. Opening it twice is harmless.
        let new = try Keychain(at: location(), part, creatingIfAbsent: isCreating, failures: Keychain.standardFailures)
        return keychain.withLock { keychain in
            keychain = keychain ?? new
            return keychain ?? new
        }
    }

    func value(of key: String) throws(VaultError) -> StoredValue? { try opened()?.value(of: key) }
    func keys(prefix: String) throws(VaultError) -> [String] { try opened()?.keys(prefix: prefix) ?? [] }

    func contents(prefix: String) throws(VaultError) -> [String: StoredValue] {
        try opened()?.contents(prefix: prefix) ?? [:]
    }

    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        if batch.changes.values.allSatisfy({ $0 == nil }), try opened() == nil {
            return batch.expectations.values.allSatisfy { $0 == nil }
        }
        return try open(creatingIfAbsent: true).commit(batch)
    }

    func makeDurable() throws(VaultError) { try opened()?.makeDurable() }
    func eraseRemoved() throws(VaultError) { try opened()?.eraseRemoved() }

    func acquireLock(_ name: String) async throws(VaultError) -> NameLock {
        try await onBlockingThread { () throws(VaultError) in try open(creatingIfAbsent: true) }.acquireLock(name)
    }

    func withSecret<Result>(_ name: String, _ body: (RawSpan) throws -> Result) throws -> Result? {
        try opened()?.withSecret(name, body)
    }

    func set(
        _ name: String, to value: borrowing SecretBytes, expires: Date?, forgetting isForgetting: Bool
    ) throws(VaultError) {
        try open(creatingIfAbsent: true).set(name, to: value, expires: expires, forgetting: isForgetting)
    }

    func set(_ name: String, to value: StoredValue, expires: Date?, forgetting isForgetting: Bool) throws(VaultError) {
        try open(creatingIfAbsent: true).set(name, to: value, expires: expires, forgetting: isForgetting)
    }

    var failures: FailureLog { Keychain.standardFailures }
    var identity: StoreIdentity { ((try? opened()) ?? nil)?.identity ?? StoreIdentity(self) }

    var changes: ChangeFeed {
        if let keychain = (try? opened()) ?? nil { return keychain.changes }
        let location = try? location()
        let storeLocation = (try? location?.storeLocation(in: PosixFileSystem())) ?? nil
        return feed.withLock { feed in
            let present =
                feed
                ?? ChangeFeed { (notify) throws(VaultError) in
                    guard let location, let storeLocation else { return nil }
                    return try location.translated(storeLocation.watch(onChange: notify))
                }
            feed = present
            return present
        }
    }
}

/// The keychain that replaces the standard one in a test.
package enum TestKeychain { @TaskLocal package static var current: Keychain? }

extension Keychain {
    /// The program's keychain, opened on first use and created if it does not exist. It is the program's part of the
    /// user's vault, or the program's own vault if ``VaultApp`` names one.
    ///
    /// The user's vault is at ``VaultLocation/standard(vault:keyFile:environment:databases:)``. Open that vault to see
    /// the entries of all programs. If the keychain cannot be opened, the next access tries again. In a task that has
    /// test stores, this property returns their keychain.
    ///
    /// - Throws: the same errors as ``init(at:creatingIfAbsent:options:failures:)``.
    public static var standard: Keychain {
        get throws(VaultError) {
            if let current = TestKeychain.current { return current }
            try checkThatNoTestUsesIt()
            return try StandardKeychain.shared.open(creatingIfAbsent: true)
        }
    }

    /// The failure log of the standard keychain, which also receives failures to open it.
    public static let standardFailures = FailureLog()

    /// The standard keychain as a store. Reading it does not create the vault.
    fileprivate static var standardIfCreated: any ValueStore {
        get throws(VaultError) {
            if let current = TestKeychain.current { return current }
            try checkThatNoTestUsesIt()
            return StandardKeychain.shared
        }
    }

    /// Throws if a test would open the user's vault. The program's own vault is allowed.
    private static func checkThatNoTestUsesIt() throws(VaultError) {
        if let refusal = StandardStores.refusal, VaultApp.fixedIdentity()?.standardVault.own == nil { throw refusal }
    }
}

extension StoreReference {
    /// A reference to ``Keychain/standard``. Reading from it does not create the vault.
    public static let keychain = StoreReference(
        failures: Keychain.standardFailures, { () throws(VaultError) in try Keychain.standardIfCreated })
}

extension VaultApp {
    /// Identifies the program as ``identify(as:preferences:)`` does, and gives the program its own vault and key file.
    /// In that vault, entry names have no prefix.
    ///
    /// - Throws: the same errors as ``identify(as:preferences:)``.
    public static func identify(as name: String, vault: VaultLocation, preferences: String? = nil) throws(VaultError) {
        try identify(as: name, preferences: preferences, vault: StandardVault(own: vault))
    }

    /// Identifies the program as ``identify(as:preferences:)`` does, and allows the user's vault to be in a database.
    ///
    /// - Parameter databases: as for ``VaultLocation/standard(vault:keyFile:environment:databases:)``.
    /// - Throws: the same errors as ``identify(as:preferences:)``.
    public static func identify(
        as name: String, databases: VaultLocation.Databases, preferences: String? = nil
    ) throws(VaultError) {
        try identify(as: name, preferences: preferences, vault: StandardVault(databases: databases))
    }
}

struct StandardVault: Hashable, Sendable {
    /// The program's own vault; nil if the program uses its part of the user's vault.
    var own: VaultLocation?
    var databases: VaultLocation.Databases?
}

extension VaultApp.Identity { var standardVault: StandardVault { vault as? StandardVault ?? StandardVault() } }
