/// The keychain that replaces the standard one in a test.
package enum TestKeychain { @TaskLocal package static var current: Keychain? }

extension Keychain {
    /// The program's keychain, opened at its first use and created if it does not exist. It is the program's part of
    /// the user's vault, or a vault of its own if ``VaultApp`` names one.
    ///
    /// The user's vault is at ``VaultLocation/standard(vault:keyFile:environment:databases:)``. Open that vault to see
    /// the entries of all programs. If the keychain cannot be opened, the next access tries again. In a task that has
    /// test stores, this property returns their keychain.
    ///
    /// - Throws: ``VaultError`` as ``init(at:creatingIfAbsent:options:failures:)``.
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

    /// Throws if a test would open the user's vault. A vault of the program's own is allowed.
    private static func checkThatNoTestUsesIt() throws(VaultError) {
        if let refusal = StandardStores.refusal, VaultApp.fixedIdentity()?.standardVault.own == nil { throw refusal }
    }
}

extension StoreReference {
    /// ``Keychain/standard``, but reading does not create a vault.
    public static let keychain = StoreReference(
        failures: Keychain.standardFailures, { () throws(VaultError) in try Keychain.standardIfCreated })
}

extension VaultApp {
    /// Identifies the program as ``identify(as:preferences:)`` does, and gives it its own vault and key file. Names of
    /// entries have no prefix there.
    ///
    /// - Throws: ``VaultError`` as ``identify(as:preferences:)``.
    public static func identify(as name: String, vault: VaultLocation, preferences: String? = nil) throws(VaultError) {
        try identify(as: name, preferences: preferences, vault: StandardVault(own: vault))
    }

    /// Identifies the program as ``identify(as:preferences:)`` does, and allows the user's vault to be in a database.
    ///
    /// - Parameter databases: as for ``VaultLocation/standard(vault:keyFile:environment:databases:)``.
    /// - Throws: ``VaultError`` as ``identify(as:preferences:)``.
    public static func identify(
        as name: String, databases: VaultLocation.Databases, preferences: String? = nil
    ) throws(VaultError) {
        try identify(as: name, preferences: preferences, vault: StandardVault(databases: databases))
    }
}

struct StandardVault: Hashable, Sendable {
    /// The program's own vault; nil for its part of the user's vault.
    var own: VaultLocation?
    var databases: VaultLocation.Databases?
}

extension VaultApp.Identity { var standardVault: StandardVault { vault as? StandardVault ?? StandardVault() } }
