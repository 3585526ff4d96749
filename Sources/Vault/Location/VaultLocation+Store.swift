package import LinuxSystem
package import SealedLog

extension VaultLocation {
    /// What opens vaults in databases, which not every program links: the module VaultShared has it, as `.postgreSQL`.
    public struct Databases: Hashable, Sendable {
        package typealias Open =
            @Sendable (
                _ url: String, _ location: VaultLocation, _ options: Keychain.Options, _ files: any FileSystem
            ) throws(VaultError) -> any StoreLocation

        private let name: String
        fileprivate let open: Open

        /// - Parameter name: tells one kind from another.
        package init(name: String, _ open: @escaping Open) {
            self.name = name
            self.open = open
        }

        public static func == (left: Databases, right: Databases) -> Bool { left.name == right.name }
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    /// Returns where the vault is.
    ///
    /// - Throws: ``VaultError/Code/invalid`` for a path or URL that cannot be meant; `unavailable` for a URL, if these
    ///   locations do not say what opens databases.
    func storeLocation(
        _ options: Keychain.Options = Keychain.Options(), in files: any FileSystem
    ) throws(VaultError) -> any StoreLocation {
        guard isInDatabase else {
            let path = resolvedPath(vault)
            try check(resolvedVault: path)
            return FileLocation(path, in: files)
        }
        try Self.check(keyFile, "The key file's path", isKeyFile: true)
        return try databaseLocation(of: vault, options, in: files)
    }

    /// Returns the location of another vault, which is written.
    func storeLocation(
        of vault: String, _ what: String, in files: any FileSystem
    ) throws(VaultError) -> any StoreLocation {
        if VaultLocation.isURL(vault) { return try databaseLocation(of: vault, Keychain.Options(), in: files) }
        try Self.checkWritten(vault, what)
        return FileLocation(resolvedPath(vault), in: files)
    }

    /// Returns the SQL that an administrator runs where users may not create tables; nil if the vault is in no
    /// database.
    package func databasePreparation() throws(VaultError) -> String? {
        try storeLocation(in: PosixFileSystem()).report?.preparation
    }

    private func databaseLocation(
        of url: String, _ options: Keychain.Options, in files: any FileSystem
    ) throws(VaultError) -> any StoreLocation {
        guard let databases else {
            throw VaultError(
                .unavailable,
                "The vault is in a database, which this program does not open. Import VaultShared, and name the vault by "
                    + "VaultLocation.database(_:), or by VaultLocation.standard(databases: .postgreSQL).")
        }
        return try databases.open(url, self, options, files)
    }
}
