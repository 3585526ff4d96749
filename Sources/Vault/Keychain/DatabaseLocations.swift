package import LinuxSystem
package import SealedLog

extension VaultLocation {
    /// Returns where the vault is.
    ///
    /// - Throws: ``VaultError/Code/invalid`` for a path or URL that cannot be meant; `unavailable` for a URL, if the
    ///   program does not link VaultShared.
    func storeLocation(
        _ options: Keychain.Options = Keychain.Options(), in files: any FileSystem
    ) throws(VaultError) -> any StoreLocation {
        guard isInDatabase else {
            let path = resolvedPath(vault)
            try check(resolvedVault: path)
            return FileLocation(path, in: files)
        }
        try Self.check(keyFile, "The key file's path", isKeyFile: true)
        return try DatabaseLocations.storeLocation(at: vault, self, options, in: files)
    }

    /// Returns the SQL that an administrator runs where users may not create tables; nil if the vault is in no
    /// database.
    package func databasePreparation() throws(VaultError) -> String? {
        try storeLocation(in: PosixFileSystem()).report?.preparation
    }

    /// Does the same for another vault than that of these places, which is written.
    func storeLocation(of vault: String, _ what: String, in files: any FileSystem) throws(VaultError) -> any StoreLocation {
        if VaultLocation.isURL(vault) {
            return try DatabaseLocations.storeLocation(at: vault, self, Keychain.Options(), in: files)
        }
        try Self.checkWritten(vault, what)
        return FileLocation(resolvedPath(vault), in: files)
    }
}

/// Where the module for vaults in a database is found, which not every program links.
package enum DatabaseLocations {
    package typealias Open =
        @Sendable (
            _ url: String, _ location: VaultLocation, _ options: Keychain.Options, _ files: any FileSystem
        ) throws(VaultError) -> any StoreLocation

    /// A closure that a mutex had without it would be wrapped once more by each look, until the stack is too small.
    private struct Opener {
        let open: Open
    }

    private static let opener = Mutex<Opener?>(nil)

    /// Called once, as soon as the module is loaded.
    package static func register(_ open: @escaping Open) {
        opener.withLock { $0 = Opener(open: open) }
    }

    package static var isAvailable: Bool { opener.withLock { $0 != nil } }

    fileprivate static func storeLocation(
        at url: String, _ location: VaultLocation, _ options: Keychain.Options, in files: any FileSystem
    ) throws(VaultError) -> any StoreLocation {
        guard let opener = opener.withLock({ $0 }) else {
            throw VaultError(
                .unavailable, "The vault is in a database, and this program does not link VaultShared.")
        }
        return try opener.open(url, location, options, files)
    }
}
