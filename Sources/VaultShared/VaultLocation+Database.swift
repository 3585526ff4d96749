public import Vault

extension VaultLocation.Databases {
    /// Vaults in PostgreSQL, and in databases that speak its protocol.
    public static let postgreSQL = VaultLocation.Databases(name: "PostgreSQL") {
        (url, location, options, files) throws(VaultError) in
        try PostgresLocation(url, location, options, in: files)
    }
}

extension VaultLocation {
    /// Returns the locations of a vault in a PostgreSQL database, with the standard ones for its key file and memory.
    ///
    /// ```swift
    /// let keychain = try Keychain(at: .database("postgresql://db.example.org/vaults#team"), options: options)
    /// ```
    ///
    /// - Parameters:
    ///   - url: libpq's connection URI, `#` and the vault's name.
    ///   - keyFile: the path of the key file; without it, as for ``standard(vault:keyFile:environment:databases:)``.
    ///   - environment: variables instead of the process's own.
    /// - Throws: ``VaultError`` with `invalid` for a text that is no such URL; as
    ///   ``standard(vault:keyFile:environment:databases:)``.
    public static func database(
        _ url: String, keyFile: String? = nil, environment: [String: String]? = nil
    ) throws(VaultError) -> VaultLocation {
        guard isURL(url) else {
            throw VaultError(.invalid, "This is no URL of a database. Write postgresql://HOST/DATABASE#NAME.")
        }
        _ = try DatabaseURL(url)
        return try standard(vault: url, keyFile: keyFile, environment: environment, databases: .postgreSQL)
    }
}
