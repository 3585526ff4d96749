private import Glibc
import LinuxSystem

extension VaultPlaces {
    /// The places that a person or the system has named, and the standard ones for the rest.
    ///
    /// The vault: `vault`, `$VAULT_FILE`, `$XDG_DATA_HOME/vault/default.vault`. The key file: `keyFile`, `$VAULT_KEY_FILE`,
    /// `$CREDENTIALS_DIRECTORY/vault.key` and `/run/secrets/vault.key` where there is one,
    /// `$XDG_CONFIG_HOME/vault/default.key`. The memory: `$XDG_STATE_HOME/vault`. The XDG variables have the defaults of
    /// the XDG Base Directory Specification, below `$HOME`.
    ///
    /// - Parameter environment: in place of the process's own.
    /// - Throws: ``VaultError/Code/unavailable`` if a place is needed that neither is named nor has a home to be in, `invalid` for a
    ///   variable that is not UTF-8.
    public static func standard(
        vault: String? = nil, keyFile: String? = nil, environment: [String: String]? = nil
    ) throws(VaultError) -> VaultPlaces {
        let variables = PlaceVariables(environment)
        let credentials = try variables["CREDENTIALS_DIRECTORY"]
        let provided = ([credentials].compactMap { $0 } + dockerSecrets).map { $0 + "/vault.key" }
        let vaultPath: String
        if let named = try named(vault, "VAULT_FILE", variables) {
            vaultPath = named
        } else {
            guard let folder = try variables.folder("XDG_DATA_HOME", ".local/share") else {
                throw homeless("vault", "VAULT_FILE")
            }
            vaultPath = folder + "/vault/default.vault"
        }
        let keyPath: String
        if let named = try named(keyFile, "VAULT_KEY_FILE", variables) ?? provided.first(where: isThere) {
            keyPath = named
        } else {
            guard let folder = try variables.folder("XDG_CONFIG_HOME", ".config") else {
                throw homeless("key file", "VAULT_KEY_FILE")
            }
            keyPath = folder + "/vault/default.key"
        }
        var places = VaultPlaces(
            vault: vaultPath, keyFile: keyPath,
            memory: try variables.folder("XDG_STATE_HOME", ".local/state").map { $0 + "/vault" })
        places.secretFolders += [credentials].compactMap { $0.map(resolvedPath) }
        return places
    }

    private static func named(
        _ path: String?, _ variable: String, _ variables: PlaceVariables
    ) throws(VaultError) -> String? {
        if let path { return path }
        return try variables[variable]
    }

    private static func homeless(_ what: String, _ variable: String) -> VaultError {
        VaultError(
            .unavailable, "HOME is not set to an absolute path. Set it, or name the \(what) in \(variable).",
            cause: .homeUnset)
    }

    private static func isThere(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }
}
