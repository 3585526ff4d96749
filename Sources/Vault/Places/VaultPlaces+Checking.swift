import LinuxSystem

extension VaultPlaces {
    /// Rejects paths that would create files in unexpected locations.
    ///
    /// - Parameter vaultPath: the vault's path without symbolic links.
    /// - Throws: ``VaultError/Code/invalid``.
    func check(resolvedVault vaultPath: String) throws(VaultError) {
        try Self.check(vault, "The vault's path")
        try Self.check(keyFile, "The key file's path", isKeyFile: true)
        guard resolvedPath(keyFile) != vaultPath else {
            throw VaultError(
                .invalid,
                "The vault and its key file cannot be one file: \(vaultPath). Name two, best on different disks.",
                cause: .oneFileForVaultAndKey)
        }
    }

    /// Rejects a path that would create a file in an unexpected location.
    ///
    /// - Parameter what: what the path is, as the start of a sentence.
    static func check(_ path: String, _ what: String, isKeyFile: Bool = false) throws(VaultError) {
        guard !beginsWithTilde(path) else {
            throw VaultError(
                .invalid,
                "\(what) is \(path): the shell did not expand the ~. Spell out the home folder, as in $HOME/x. "
                    + "For a folder that is really named ~, write ./\(path).",
                cause: .unexpandedTilde(path: path, isKeyFile: isKeyFile))
        }
        // The next compaction in that folder would remove it as the leftover of an interrupted one.
        guard !(path.lastPathComponent.hasPrefix(".") && path.hasSuffix(".vault-new")) else {
            throw VaultError(.invalid, "\(what) has the name of a temporary file: \(path). Give it another name.")
        }
        // Resolving the path would drop its last component, and the file would get the folder's name.
        guard !["", ".", ".."].contains(path.lastPathComponent) else {
            throw VaultError(.invalid, "\(what) names a folder: \"\(path)\". Name a file in it, such as default.vault.")
        }
    }

    /// Returns whether the path is `~`, or begins with `~/` or `~user/`, which shells do not expand after an equals sign or
    /// in quotes.
    private static func beginsWithTilde(_ path: String) -> Bool {
        path == "~" || (path.utf8.first == UInt8(ascii: "~") && path.utf8.contains(UInt8(ascii: "/")))
    }
}
