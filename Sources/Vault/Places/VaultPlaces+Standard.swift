private import Glibc
import SealedLog

extension VaultPlaces {
    /// The places that a person or the system has named, and the standard ones for the rest.
    ///
    /// The vault: `vault`, `$VAULT_FILE`, `$XDG_DATA_HOME/vault/default.vault`. The key file: `keyFile`, `$VAULT_KEY_FILE`,
    /// `$CREDENTIALS_DIRECTORY/vault.key` and `/run/secrets/vault.key` where there is one,
    /// `$XDG_CONFIG_HOME/vault/default.key`. The memory: `$XDG_STATE_HOME/vault`. The XDG variables have the defaults of
    /// the XDG Base Directory Specification, below `$HOME` or else the home folder of the user's account.
    ///
    /// - Parameter environment: in place of the process's own.
    /// - Throws: ``VaultError/Code/unavailable`` if a place is needed that neither is named nor has a home to be in.
    public static func standard(
        vault: String? = nil, keyFile: String? = nil, environment: [String: String]? = nil
    ) throws(VaultError) -> VaultPlaces {
        let variables = PlaceVariables(environment)
        let credentials = variables["CREDENTIALS_DIRECTORY"]
        let provided = ([credentials].compactMap { $0 } + dockerSecrets).map { $0 + "/vault.key" }
        guard
            let vaultPath = vault ?? variables["VAULT_FILE"]
                ?? variables.folder("XDG_DATA_HOME", ".local/share").map({
                    $0 + "/vault/default.vault"
                })
        else { throw homeless("the vault", "--vault or VAULT_FILE") }
        guard
            let keyPath = keyFile ?? variables["VAULT_KEY_FILE"] ?? provided.first(where: isThere)
                ?? variables.folder("XDG_CONFIG_HOME", ".config").map({ $0 + "/vault/default.key" })
        else { throw homeless("the key file", "--key-file or VAULT_KEY_FILE") }
        var places = VaultPlaces(
            vault: vaultPath, keyFile: keyPath,
            memory: variables.folder("XDG_STATE_HOME", ".local/state").map { $0 + "/vault" })
        places.secretFolders += [credentials].compactMap { $0.map(resolvedPath) }
        return places
    }

    private static func homeless(_ what: String, _ options: String) -> VaultError {
        VaultError(.unavailable, "There is no home folder to look for \(what) in; name it with \(options).")
    }

    private static func isThere(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }
}
