/// The standard keychain of a test, in place of the program's.
package enum TestKeychain { @TaskLocal package static var current: Keychain? }

extension Keychain {
    /// The program's keychain, opened at its first use and created if there is none: the program's part of the person's
    /// vault, or a vault of its own, as ``VaultApp`` has it.
    ///
    /// The person's vault is at ``VaultLocation/standard(vault:keyFile:environment:databases:)``; open that to see the
    /// entries of all programs. Until it can be opened, each access tries again. Within a task that has test stores
    /// this is their keychain.
    ///
    /// - Throws: ``VaultError`` as ``init(at:creatingIfAbsent:options:failures:)``.
    public static var standard: Keychain {
        get throws(VaultError) {
            if let current = TestKeychain.current { return current }
            try checkThatNoTestUsesIt()
            return try StandardKeychain.shared.open(creatingIfAbsent: true)
        }
    }

    /// The log of errors of the standard keychain, including those of opening it.
    public static let standardFailures = FailureLog()

    /// The same, but reading does not create it.
    fileprivate static var standardIfCreated: any ValueStore {
        get throws(VaultError) {
            if let current = TestKeychain.current { return current }
            try checkThatNoTestUsesIt()
            return StandardKeychain.shared
        }
    }

    /// A vault of the program's own is not the person's: a test may name one.
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
    /// Names the program as ``identify(as:preferences:)`` does, and gives it a vault of its own, with its key file. Its
    /// entries begin with no name.
    ///
    /// - Throws: ``VaultError`` as ``identify(as:preferences:)``.
    public static func identify(as name: String, vault: VaultLocation, preferences: String? = nil) throws(VaultError) {
        try identify(as: name, preferences: preferences, vault: StandardVault(own: vault))
    }

    /// Names the program as ``identify(as:preferences:)`` does, and lets it open the person's vault in a database too.
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
    /// The program's own; nil for its part of the person's.
    var own: VaultLocation?
    var databases: VaultLocation.Databases?
}

extension VaultApp.Identity { var standardVault: StandardVault { vault as? StandardVault ?? StandardVault() } }
