package import LinuxSystem
package import SealedLog

/// The options of a keychain that control how its store is opened. ``Keychain/Options`` documents them.
package struct StoreOptions: Sendable {
    package var lockTimeout: Duration = .seconds(10)
    package var offline = VaultLocation.Offline.never
    package var isShortLived = false
    package var readsAtOnce = false
    package var changesNothing = false

    package init() {}
}

extension VaultLocation {
    /// The code that opens vaults in databases. Only programs that need it link VaultShared and pass `.postgreSQL`.
    public struct Databases: Hashable, Sendable {
        package typealias Open =
            @Sendable (
                _ url: String, _ location: VaultLocation, _ options: StoreOptions, _ files: any FileSystem
            ) throws(VaultError) -> any StoreLocation

        private let name: String
        fileprivate let open: Open

        /// - Parameter name: identifies this value in comparisons, since closures cannot be compared.
        package init(name: String, _ open: @escaping Open) {
            self.name = name
            self.open = open
        }

        public static func == (left: Databases, right: Databases) -> Bool { left.name == right.name }
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    /// The conditions for using the local copy of a vault in a database. The copy is encrypted like the vault.
    public enum Offline: Hashable, Sendable {
        /// The local copy is never used. If no server can be reached, calls throw `unavailable`.
        case never
        /// The local copy is used while no server can be reached. ``Keychain/failures`` receives a notice with the
        /// copy's age. Changes are stored locally, and merged when the vault is opened again. See
        /// ``Keychain/Copies/offlineChanges``.
        case ifUnreachable
        /// The local copy is always used. No server is contacted.
        case always
    }

    /// Returns the location of the vault's store. Throws ``VaultError/Code/invalid`` for a path or URL that is probably
    /// a mistake; `unavailable` for a URL if ``databases`` is nil.
    func storeLocation(
        _ options: StoreOptions = StoreOptions(), in files: any FileSystem
    ) throws(VaultError) -> any StoreLocation {
        guard isInDatabase else {
            let path = resolvedPath(vault)
            try check(resolvedVault: path)
            return FileLocation(path, in: files)
        }
        try Self.check(keyFile, "The key file's path", isKeyFile: true)
        return try databaseLocation(of: vault, options, in: files)
    }

    func storeLocation(
        of vault: String, _ what: String, in files: any FileSystem
    ) throws(VaultError) -> any StoreLocation {
        if VaultLocation.isURL(vault) { return try databaseLocation(of: vault, StoreOptions(), in: files) }
        try Self.checkWritten(vault, what)
        return FileLocation(resolvedPath(vault), in: files)
    }

    /// Returns the SQL that an administrator must run if users lack permission to create tables; nil for a vault file.
    package func databasePreparation() throws(VaultError) -> String? {
        try storeLocation(in: PosixFileSystem()).report?.preparation
    }

    private func databaseLocation(
        of url: String, _ options: StoreOptions, in files: any FileSystem
    ) throws(VaultError) -> any StoreLocation {
        guard let databases else {
            throw VaultError(
                .unavailable,
                "The vault is in a database, which this program cannot open. Its code must import VaultShared and pass "
                    + "`databases: .postgreSQL` to VaultApp.identify or VaultLocation.standard.")
        }
        return try databases.open(url, self, options, files)
    }
}
