import LinuxSystem

extension VaultPlaces {
    /// Refuses paths at which files would be created where nobody looks for them.
    ///
    /// - Parameter vaultPath: the vault's path without symbolic links.
    /// - Throws: ``VaultError/Code/invalid``.
    func check(resolvedVault vaultPath: String) throws(VaultError) {
        try Self.check(vault, "The vault's path", option: "--vault")
        try Self.check(keyFile, "The key file's path", option: "--key-file")
        guard resolvedPath(keyFile) != vaultPath else {
            throw VaultError(
                .invalid,
                "The vault and its key file cannot be one file: \(vaultPath). "
                    + "Name two with --vault and --key-file, best on different disks.")
        }
    }

    /// Refuses a path at which a file would be created where nobody looks for it.
    ///
    /// - Parameters:
    ///   - what: what the path is, as a sentence begins.
    ///   - option: what stands before it on a command line.
    static func check(_ path: String, _ what: String, option: String? = nil) throws(VaultError) {
        guard !beginsWithTilde(path) else {
            let words = (option.map { [$0] } ?? []) + [path]
            throw VaultError(
                .invalid,
                "\(what) is \(path): the shell did not expand the ~. Write `\(words.joined(separator: " "))` without quotes, "
                    + "or spell the home folder out, as in $HOME/x. A folder that is really named ~ is written ./\(path)."
            )
        }
        // The next compaction beside it would take it for the copy that one left which was killed, and remove it.
        guard !(path.lastPathComponent.hasPrefix(".") && path.hasSuffix(".vault-new")) else {
            throw VaultError(.invalid, "\(what) has the name of a temporary file: \(path). Give it another name.")
        }
        // Resolving the path would drop its end, and the file would get the folder's name.
        guard !["", ".", ".."].contains(path.lastPathComponent) else {
            throw VaultError(.invalid, "\(what) names a folder: \"\(path)\". Name a file in it, such as default.vault.")
        }
    }

    /// Whether the path is `~`, or begins with `~/` or `~user/`: shells do not expand these after an equals sign or in
    /// quotes.
    private static func beginsWithTilde(_ path: String) -> Bool {
        path == "~" || (path.utf8.first == UInt8(ascii: "~") && path.utf8.contains(UInt8(ascii: "/")))
    }
}
