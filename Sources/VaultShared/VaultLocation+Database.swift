public import Vault

extension VaultLocation.Databases {
    /// Vaults in PostgreSQL, and in other databases that use its protocol.
    public static let postgreSQL = VaultLocation.Databases(name: "PostgreSQL") {
        (url, location, options, files) throws(VaultError) in
        try PostgresLocation(url, location, options, in: files)
    }
}

extension VaultLocation {
    /// Returns the location of a vault in a PostgreSQL database, with the standard paths for its key file and memory.
    ///
    /// ```swift
    /// let keychain = try Keychain(at: .database("postgresql://db.example.org/vaults#team"), options: options)
    /// ```
    ///
    /// - Parameters:
    ///   - url: libpq's connection URI, `#` and the vault's name.
    ///   - keyFile: the path of the key file; if nil, chosen as in ``standard(vault:keyFile:environment:databases:)``.
    ///   - environment: the environment variables; if nil, those of this process.
    /// - Throws: ``VaultError`` with `invalid` if `url` does not have this form, and the errors of
    ///   ``standard(vault:keyFile:environment:databases:)``.
    public static func database(
        _ url: String, keyFile: String? = nil, environment: [String: String]? = nil
    ) throws(VaultError) -> VaultLocation {
        guard isURL(url) else {
            throw VaultError(.invalid, "Not a database URL. Use the form postgresql://HOST/DATABASE#NAME.")
        }
        _ = try DatabaseURL(url)
        return try standard(vault: url, keyFile: keyFile, environment: environment, databases: .postgreSQL)
    }
}
