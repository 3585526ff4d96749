private import FoundationEssentials
private import Glibc
import LinuxSystem
import SealedLog
import Sealing

/// The locations of a vault, its key file, and this machine's memory of it.
public struct VaultLocation: Hashable, Sendable {
    /// The path of the vault file; of a vault in a database, its URL.
    public var vault: String
    /// The path of the key file.
    public var keyFile: String
    /// The folder in which this machine remembers the last state of each vault, so that an older or exchanged one is
    /// noticed; nil to remember nothing.
    public var rollbackMemory: String?
    /// The folder in which this machine keeps copies of vaults in databases, sealed as they are there; nil for none. At
    /// first the folder `$XDG_CACHE_HOME/vault`, by default in `~/.cache`.
    public var cache: String? = VaultLocation.standardCache
    /// A command for the shell whose output is the contents of the key file; nil: they are in the file.
    public var keyCommand: String?
    /// The path of a file of age identities, for a vault that has a recipient among its keys; nil for none.
    public var identityFile: String?
    /// The path of the key by which this machine signs what it writes to a vault with members; nil for none. At first
    /// `$XDG_CONFIG_HOME/vault/device.key`, by default in `~/.config`.
    public var deviceKey: String? = VaultLocation.standardDeviceKey
    /// The code that opens databases; nil for none.
    public var databases: Databases?
    /// Whether the configuration allows that this machine's copy stands in for a database that does not answer.
    package var allowsOffline = false
    /// Whether the configuration says that git exchanges the vault file for others of its history.
    package var isInGit = false
    /// Folders below which root's key files may be readable by others, as systemd and Docker create them.
    package var secretFolders: [String] = VaultLocation.dockerSecrets

    static let dockerSecrets = ["/run/secrets"]

    /// Creates the locations from their paths. For a database see `database(_:keyFile:environment:)` of VaultShared.
    ///
    /// - Parameter rollbackMemory: without it, the standard folder, ``standardRollbackMemory``.
    public init(vault: String, keyFile: String, rollbackMemory: String? = VaultLocation.standardRollbackMemory) {
        self.vault = vault
        self.keyFile = keyFile
        self.rollbackMemory = rollbackMemory
    }
}

extension VaultLocation {
    /// Whether the vault is in a database: it is named by a URL, not a path.
    package var isInDatabase: Bool { VaultLocation.isURL(vault) }

    /// A scheme may be in capitals (RFC 3986, 3.1).
    package static func isURL(_ location: String) -> Bool {
        ["postgresql://", "postgres://"].contains { Substring(location.utf8.prefix($0.utf8.count)).lowercased() == $0 }
    }

    /// Returns the locations that the caller or the environment names, and the standard ones for the rest.
    ///
    /// The vault: `vault`, `$VAULT_FILE`, the section `default` of the configuration,
    /// `$XDG_DATA_HOME/vault/default.vault`. The key file: `keyFile`, `$VAULT_KEY_FILE`, that of the configuration,
    /// `$CREDENTIALS_DIRECTORY/vault.key` and `/run/secrets/vault.key` if they exist,
    /// `$XDG_CONFIG_HOME/vault/default.key`. The memory: `$XDG_STATE_HOME/vault`. The XDG variables have the defaults
    /// of the XDG Base Directory Specification, below `$HOME`.
    ///
    /// A `vault` without a slash is the name of a section of the configuration, if there is one; its key is that of the
    /// section, or else the file `$XDG_CONFIG_HOME/vault/NAME.key`. See <doc:KeysAndRecovery>.
    ///
    /// - Parameters:
    ///   - environment: variables instead of the process's own.
    ///   - databases: opens the vault if what is named is the URL of one in a database: `.postgreSQL` of the module
    ///     VaultShared. Without it, a keychain at such a URL is `unavailable`.
    /// - Throws: ``VaultError/Code/unavailable`` if a path is not named and there is no home folder for it, `invalid`
    ///   for a variable that is not UTF-8, and for a configuration that cannot be read; `locked` for one that others
    ///   can change.
    public static func standard(
        vault: String? = nil, keyFile: String? = nil, environment: [String: String]? = nil, databases: Databases? = nil
    ) throws(VaultError) -> VaultLocation {
        let variables = LocationVariables(given: environment)
        let section = try variables.section(named: vault)
        let credentials = try variables["CREDENTIALS_DIRECTORY"].map { [$0] } ?? []
        let provided = (credentials + dockerSecrets).map { $0 + "/vault.key" }
        // The environment's key belongs to the default vault, not to one that was named.
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

    /// Returns the locations of this machine's own vault, whatever vault the environment names.
    package static func local() throws(VaultError) -> VaultLocation {
        var environment = ProcessInfo.processInfo.environment
        for name in ["VAULT_FILE", "VAULT_KEY_FILE"] { environment[name] = nil }
        return try standard(environment: environment)
    }

    /// The folder `$XDG_STATE_HOME/vault`, by default in `~/.local/state`; nil if there is no home folder.
    public static var standardRollbackMemory: String? { try? LocationVariables().rollbackMemory }

    private static var standardDeviceKey: String? {
        (try? LocationVariables().folder("XDG_CONFIG_HOME", ".config")).map { $0 + "/vault/device.key" }
    }

    private static var standardCache: String? {
        (try? LocationVariables().folder("XDG_CACHE_HOME", ".cache"))?.map { $0 + "/vault" }
    }

    /// Throws ``VaultError/Code/invalid`` for paths that would create files in unexpected locations.
    ///
    /// - Parameter vaultPath: the vault's path without symbolic links.
    func check(resolvedVault vaultPath: String) throws(VaultError) {
        try Self.check(vault, "The vault's path")
        try Self.check(keyFile, "The key file's path", isKeyFile: true)
        guard resolvedPath(keyFile) != vaultPath else {
            throw VaultError(
                .invalid,
                "The vault and its key file cannot be one file: \(vaultPath). Name two, best on different disks.",
                causes: [.oneFileForVaultAndKey])
        }
    }

    /// - Parameter what: what the path is, as the start of a sentence.
    static func check(_ path: String, _ what: String, isKeyFile: Bool = false) throws(VaultError) {
        // Shells do not expand `~`, `~/` and `~user/` after an equals sign or in quotes.
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
                // It may have a password.
                "\(what) is no path, and no URL of a database. Write postgresql://HOST/DATABASE#NAME. For a file that "
                    + "is really named so, write ./ before it.")
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
}

extension VaultLocation {
    /// Checks a path as ``check(_:_:isKeyFile:)`` does, of a file that is written.
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
    /// Returns the given path, or a variable's, or the first provided one that exists, or the standard one.
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

    /// Returns the section of the configuration that applies; nil if a path is given, or none is configured.
    fileprivate func section(named name: String?) throws(VaultError) -> VaultConfiguration.Section? {
        if let name {
            guard VaultConfiguration.isName(name[...]) else { return nil }
            let configuration = try VaultConfiguration.read(variables: self)
            // A mistyped name would create a vault in the current folder.
            let isPath = configuration.sections.isEmpty || access(name, F_OK) == 0
            if isPath, !configuration.sections.contains(where: { $0.name.isSame(as: name) }) { return nil }
            return try configuration.section(named: name)
        }
        guard try self["VAULT_FILE"] == nil else { return nil }
        do { return try VaultConfiguration.read(variables: self).defaultSection } catch {
            // A service with another user's HOME has no configuration; its key is a matter of its own.
            guard error.systemError == EACCES else { throw error }
            return nil
        }
    }

    fileprivate var rollbackMemory: String? {
        get throws(VaultError) { try folder("XDG_STATE_HOME", ".local/state").map { $0 + "/vault" } }
    }
}

/// How a vault's fingerprint is shown: eight groups of four hex digits, to be compared aloud.
enum Fingerprint {
    static func text(_ fingerprint: [UInt8]) -> String { text(Hexadecimal.string(of: fingerprint)) }

    /// Groups hex digits, as the errors of the log have them.
    static func text(_ digits: String) -> String {
        let digits = Array(digits)
        return stride(from: 0, to: digits.count, by: 4).map { String(digits[$0..<min($0 + 4, digits.count)]) }
            .joined(separator: "-")
    }

    /// Returns whether a text is a fingerprint, in either case, with or without its dashes.
    static func matches(_ text: String, _ fingerprint: [UInt8]) -> Bool {
        text.lowercased().filter { $0 != "-" } == Hexadecimal.string(of: fingerprint)
    }
}
