private import FoundationEssentials
private import Glibc
import LinuxSystem
import SealedFormat

/// The locations of a vault, its key file, and this machine's rollback memory.
public struct VaultLocation: Hashable, Sendable {
    /// The path of the vault file, or the URL of a vault in a database.
    public var vault: String
    /// The path of the key file.
    public var keyFile: String
    /// The folder in which this machine records the last state of each vault, to detect an older copy or a different
    /// vault; nil to record nothing.
    public var rollbackMemory: String?
    /// The folder for this machine's local copies of vaults in databases, encrypted like the originals; nil for none.
    /// The default is `$XDG_CACHE_HOME/vault`, or `~/.cache/vault` if the variable is not set.
    public var cache: String? = VaultLocation.standardCache
    /// A shell command whose output is the contents of the key file; nil if the key file itself is read.
    public var keyCommand: String?
    /// The path of an age identity file, for a vault that has recipients; nil for none.
    public var identityFile: String?
    /// The path of this machine's device key, which signs changes to a vault with members; nil for none. The default is
    /// `$XDG_CONFIG_HOME/vault/device.key`, or `~/.config/vault/device.key` if the variable is not set.
    public var deviceKey: String? = VaultLocation.standardDeviceKey
    /// The code that opens vaults in databases; nil for none.
    public var databases: Databases?
    /// Whether the configuration allows using this machine's local copy while the database cannot be reached.
    package var allowsOffline = false
    /// Whether the configuration declares that git manages the vault file, so that a checkout may replace it.
    package var isInGit = false
    /// Whether ``keyFile`` is the vault's own key file. If not, the error for a missing one suggests no other path.
    var isOwnKeyFile = true
    /// The folders below which root's key files may be readable by other users. Systemd and Docker create such files.
    package var secretFolders: [String] = VaultLocation.dockerSecrets

    static let dockerSecrets = ["/run/secrets"]

    /// Creates the locations from their paths. For a database, see `database(_:keyFile:environment:)` of VaultShared.
    ///
    /// - Parameter rollbackMemory: the folder of the rollback memory, by default ``standardRollbackMemory``.
    public init(vault: String, keyFile: String, rollbackMemory: String? = VaultLocation.standardRollbackMemory) {
        self.vault = vault
        self.keyFile = keyFile
        self.rollbackMemory = rollbackMemory
    }
}

extension VaultLocation {
    /// Whether the vault is in a database, and thus has a URL instead of a path.
    package var isInDatabase: Bool { VaultLocation.isURL(vault) }

    /// Returns whether a location is the URL of a database. The scheme may be in upper case (RFC 3986, section 3.1).
    package static func isURL(_ location: String) -> Bool {
        ["postgresql://", "postgres://"].contains { Substring(location.utf8.prefix($0.utf8.count)).lowercased() == $0 }
    }

    /// Returns the locations named by the caller, the environment or the configuration, with defaults for the rest.
    ///
    /// The first source that is set is used. The sources for the vault are `vault`, `$VAULT_FILE`, the section
    /// `default` of the configuration, and `$XDG_DATA_HOME/vault/default.vault`. The sources for the key file are
    /// `keyFile`, `$VAULT_KEY_FILE`, the configuration, `$CREDENTIALS_DIRECTORY/vault.key` and `/run/secrets/vault.key`
    /// if they exist, and `$XDG_CONFIG_HOME/vault/default.key`. The rollback memory is `$XDG_STATE_HOME/vault`. The XDG
    /// variables have the defaults of the XDG Base Directory Specification, below `$HOME`.
    ///
    /// If the configuration has sections, a `vault` without a slash is the name of a section. The key file is then the
    /// one that the section names, by default `$XDG_CONFIG_HOME/vault/NAME.key`. See <doc:KeysAndRecovery>.
    ///
    /// - Parameters:
    ///   - environment: the environment variables to use instead of the process's own.
    ///   - databases: the code that opens vaults in databases: `.postgreSQL` of the module VaultShared. If nil, opening
    ///     a keychain at a database's URL throws `unavailable`.
    /// - Throws: ``VaultError/Code/unavailable`` if no source names a path and HOME is not set; `invalid` if a variable
    ///   is not UTF-8 or the configuration cannot be read; `locked` if others can change the configuration.
    public static func standard(
        vault: String? = nil, keyFile: String? = nil, environment: [String: String]? = nil, databases: Databases? = nil
    ) throws(VaultError) -> VaultLocation {
        let variables = LocationVariables(given: environment)
        let section = try variables.section(named: vault)
        let credentials = try variables["CREDENTIALS_DIRECTORY"].map { [$0] } ?? []
        let provided = (credentials + dockerSecrets).map { $0 + "/vault.key" }
        // `$VAULT_KEY_FILE` belongs to the default vault, so it does not apply to a section that the caller names.
        let name = vault == nil ? nil : section?.name
        let environmentKey = try variables["VAULT_KEY_FILE"]
        let ownKey = name == nil && environmentKey != nil ? nil : section?.keyFile
        var location = VaultLocation(
            vault: try variables.path(
                of: "vault", given: section?.vault ?? vault, "VAULT_FILE", or: "XDG_DATA_HOME", ".local/share",
                "default.vault"),
            keyFile: try variables.path(
                of: "key file", given: keyFile ?? ownKey, name == nil ? "VAULT_KEY_FILE" : nil,
                name == nil ? provided : [], or: "XDG_CONFIG_HOME", ".config", "\(name ?? "default").key"),
            rollbackMemory: try variables.rollbackMemory)
        location.cache = try variables.folder("XDG_CACHE_HOME", ".cache").map { $0 + "/vault" }
        location.deviceKey = try variables.folder("XDG_CONFIG_HOME", ".config").map { $0 + "/vault/device.key" }
        location.secretFolders += credentials.map(resolvedPath)
        if keyFile == nil, name != nil || environmentKey == nil { location.keyCommand = section?.keyCommand }
        location.identityFile = section?.identity
        location.allowsOffline = section?.allowsOffline ?? false
        location.isInGit = section?.isInGit ?? false
        location.databases = databases
        return location
    }

    /// Returns the locations of this machine's default vault, ignoring `$VAULT_FILE` and `$VAULT_KEY_FILE`.
    package static func local() throws(VaultError) -> VaultLocation {
        var environment = ProcessInfo.processInfo.environment
        for name in ["VAULT_FILE", "VAULT_KEY_FILE"] { environment[name] = nil }
        return try standard(environment: environment)
    }

    /// The folder `$XDG_STATE_HOME/vault`, by default `~/.local/state/vault`; nil if there is no home folder.
    public static var standardRollbackMemory: String? { try? LocationVariables().rollbackMemory }

    private static var standardDeviceKey: String? {
        (try? LocationVariables().folder("XDG_CONFIG_HOME", ".config")).map { $0 + "/vault/device.key" }
    }

    private static var standardCache: String? {
        (try? LocationVariables().folder("XDG_CACHE_HOME", ".cache"))?.map { $0 + "/vault" }
    }

    /// Throws ``VaultError/Code/invalid`` for paths that create files in unexpected locations or lead to the same file.
    ///
    /// - Parameter vaultPath: the vault's path with its symbolic links resolved.
    func check(resolvedVault vaultPath: String) throws(VaultError) {
        try Self.check(vault, "The vault's path")
        try Self.check(keyFile, "The key file's path", isKeyFile: true)
        guard resolvedPath(keyFile) != vaultPath else {
            throw VaultError(
                .invalid,
                "The vault and its key file cannot be the same file: \(vaultPath). Use two, ideally on two disks.",
                causes: [.oneFileForVaultAndKey])
        }
    }

    /// Checks one path. `what` is the subject of the error message, such as "The key file's path".
    static func check(_ path: String, _ what: String, isKeyFile: Bool = false) throws(VaultError) {
        // Shells do not expand `~/` or `~user/` after an equals sign or in quotes, so the path is probably a mistake.
        let hasTilde = path.utf8.first == UInt8(ascii: "~") && path.utf8.contains(UInt8(ascii: "/"))
        guard path != "~", !hasTilde else {
            throw VaultError(
                .invalid,
                "\(what) is \(path): the shell did not expand the ~. Spell out the home folder, as in $HOME/x. "
                    + "For a folder that is really named ~, write ./\(path).",
                causes: [.unexpandedTilde(path: path, isKeyFile: isKeyFile)])
        }
        let isURL =
            path.utf8.contains(UInt8(ascii: ":"))
            && (path.utf8.firstRange(of: "://".utf8) != nil
                || ["postgresql:", "postgres:"].contains(where: path.lowercased().hasPrefix))
        guard !isURL else {
            throw VaultError(
                .invalid,
                // The message does not quote the path, because a URL may contain a password.
                "\(what) is neither a path nor the URL of a database. Write postgresql://HOST/DATABASE#NAME. If it is "
                    + "the name of a file, write ./ before it.")
        }
        // A file named `.x.vault-new` would be deleted as the leftover temporary file of a compaction of the vault `x`.
        guard !(path.lastPathComponent.hasPrefix(".") && path.hasSuffix(".vault-new")) else {
            throw VaultError(.invalid, "\(what) has the name of a temporary file: \(path). Give it another name.")
        }
        // Resolving would remove an ending such as "/.", so the file would be created with a name meant for a folder.
        guard !["", ".", ".."].contains(path.lastPathComponent) else {
            throw VaultError(.invalid, "\(what) names a folder: \"\(path)\". Name a file in it, such as default.vault.")
        }
    }

    /// Checks the path of a file to be written. As root, throws if another user's symbolic link is in the path.
    static func checkWritten(_ path: String, _ what: String, isKeyFile: Bool = false) throws(VaultError) {
        try check(path, what, isKeyFile: isKeyFile)
        try WrittenPath.checkLinks(in: path)
    }

    func translated<Result: ~Copyable>(
        _ operation: @autoclosure () throws(LogError) -> Result
    ) throws(VaultError) -> Result {
        do { return try operation() } catch { throw VaultError(error, self) }
    }
}

extension LocationVariables {
    /// Returns the first available path: `given`, the variable's, the first existing one of `provided`, or the default.
    fileprivate func path(
        of what: String, given: String?, _ variable: String?, _ provided: [String] = [],
        or folderVariable: String, _ belowHome: String, _ name: String
    ) throws(VaultError) -> String {
        if let given { return given }
        if let path = try variable.flatMap({ (name) throws(VaultError) in try self[name] })
            ?? provided.first(where: { access($0, F_OK) == 0 })
        {
            return path
        }
        guard let folder = try folder(folderVariable, belowHome) else {
            throw VaultError(
                .unavailable,
                "HOME is not set to an absolute path. Set it, or name the \(what)"
                    + "\(variable.map { " in \($0)" } ?? "").",
                causes: [.homeUnset])
        }
        return "\(folder)/vault/\(name)"
    }

    /// Returns the section of the configuration to use; nil if a path is given, or if there is no default section.
    fileprivate func section(named name: String?) throws(VaultError) -> VaultConfiguration.Section? {
        if let name {
            guard VaultConfiguration.isName(name[...]) else { return nil }
            let configuration = try VaultConfiguration.read(variables: self)
            // If sections exist, a name that no file has must be a section's, so that a mistyped one creates no vault.
            let isPath = configuration.sections.isEmpty || access(name, F_OK) == 0
            if isPath, !configuration.sections.contains(where: { $0.name.isSame(as: name) }) { return nil }
            return try configuration.section(named: name)
        }
        guard try self["VAULT_FILE"] == nil else { return nil }
        do { return try VaultConfiguration.read(variables: self).defaultSection } catch {
            // A service with another user's HOME may be unable to read the configuration. Its own key is elsewhere.
            guard error.systemError == EACCES else { throw error }
            return nil
        }
    }

    fileprivate var rollbackMemory: String? {
        get throws(VaultError) { try folder("XDG_STATE_HOME", ".local/state").map { $0 + "/vault" } }
    }
}

/// The displayed form of a vault's fingerprint: eight groups of four hex digits, which are easy to compare aloud.
enum Fingerprint {
    static func text(_ fingerprint: [UInt8]) -> String { text(Hexadecimal.string(of: fingerprint)) }

    /// Groups the hex digits of a fingerprint. A `LogError` contains the digits ungrouped.
    static func text(_ digits: String) -> String {
        let digits = Array(digits)
        return stride(from: 0, to: digits.count, by: 4).map { String(digits[$0..<min($0 + 4, digits.count)]) }
            .joined(separator: "-")
    }

    /// Returns whether a string is the fingerprint, in upper or lower case, with or without dashes.
    static func matches(_ text: String, _ fingerprint: [UInt8]) -> Bool {
        text.lowercased().filter { $0 != "-" } == Hexadecimal.string(of: fingerprint)
    }
}
