private import Glibc
import LinuxSystem

/// The configuration file, which gives names to vaults: `$XDG_CONFIG_HOME/vault/config`, by default in `~/.config`.
///
///     # A comment takes a whole line.
///     [work]
///     vault = ~/Sync/work.vault
///     key-file = "/media/usb/key of work"
///
/// A path that begins with `~/` starts at the home folder. Any other relative path starts at the configuration file's
/// folder. In double quotes, `\"` and `\\` represent a quote and a backslash.
package struct VaultConfiguration: Hashable, Sendable {
    package struct Section: Hashable, Sendable {
        /// The section's name: 1 to 64 letters, digits, `.`, `_` and `-`.
        package let name: String
        package let vault: String
        package let keyFile: String?
        /// The shell command whose output is the contents of the key file.
        package let keyCommand: String?
        /// The path of an age identity file.
        package let identity: String?
        /// Whether this machine's local copy of a vault may be used while its database cannot be reached.
        package var allowsOffline = false
        /// Whether git manages the vault file, so that a checkout may replace it with another version.
        package var isInGit = false
    }

    /// The configuration file's path, even if the file does not exist.
    package let path: String
    package let sections: [Section]

    init(path: String, sections: [Section]) { (self.path, self.sections) = (path, sections) }

    package var defaultSection: Section? { sections.first { $0.name == "default" } }

    /// Returns the section named `name`. If there is none, throws ``VaultError/Code/invalid`` with the existing names.
    package func section(named name: String) throws(VaultError) -> Section {
        if let section = sections.first(where: { $0.name.isSame(as: name) }) { return section }
        // A string that cannot be a name is not quoted: it may be a secret, or contain control characters.
        let missing = VaultConfiguration.isName(name[...]) ? "No vault is named \"\(name)\"" : "No vault has that name"
        guard !sections.isEmpty else {
            throw VaultError(
                .invalid,
                "\(missing): \(path) lists no vault. Write a line with a name in brackets there, such as [work], "
                    + "and below it: vault = PATH.")
        }
        let shown = sections.prefix(20).map(\.name).joined(separator: ", ")
        let rest = sections.count > 20 ? " and \(sections.count - 20) more" : ""
        throw VaultError(.invalid, "\(missing) in \(path). The names there are: \(shown)\(rest).")
    }

    package static func isName(_ text: Substring) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "._-".utf8.contains($0)
                }
            }
    }

    static let sizeLimit = 64 << 10

    /// Reads the configuration. If there is no file or no home folder, the result has no sections.
    ///
    /// - Parameter variables: the environment.
    /// - Throws: ``VaultError/Code/locked`` if other users can change the file, because they could then run programs as
    ///   this user through a `key-command`. A key file that is open to others causes the same error, with the same
    ///   remedy. `invalid` if the file cannot be parsed; `unavailable` if it cannot be read.
    static func read(
        variables: LocationVariables = LocationVariables(), in fileSystem: any FileSystem = PosixFileSystem()
    ) throws(VaultError) -> VaultConfiguration {
        let folder = try variables.folder("XDG_CONFIG_HOME", ".config")
        let path = (folder ?? "~/.config") + "/vault/config"
        guard folder != nil, let contents = try contents(of: WholeFile(path, in: fileSystem)) else {
            return VaultConfiguration(path: path, sections: [])
        }
        let home = try variables["HOME"].flatMap { $0.isAbsolutePath ? $0 : nil }
        return try VaultConfiguration(parsing: contents, path: path, home: home)
    }

    private static func contents(of file: WholeFile) throws(VaultError) -> [UInt8]? {
        do throws(Distrust) { return try file.readTrustworthy(upTo: UInt64(sizeLimit))?.bytes } catch {
            switch error {
            case .system(let error):
                if let kind = error.kindOfNoFile {
                    throw VaultError(
                        .invalid, "The configuration \(file.path) is \(kind), not a file. Remove or rename it.")
                }
                throw error.isTooLarge ? .oversized(file.path) : VaultError(system: error, file.path)
            // Root is not advised to take ownership, because the former owner could then no longer read the file.
            case .anotherOwner where geteuid() == 0:
                throw VaultError(.locked, "The configuration \(error.reason(of: file.path)).")
            case .anotherOwner:
                throw VaultError(
                    .locked,
                    "The configuration \(file.path) belongs to another user, who could run any program through it. "
                        + "Fix it with `chown \(geteuid()) \(file.path.shellWord)` (as root) after reading it.")
            case .writableByOthers:
                throw VaultError(
                    .locked,
                    "Others can change the configuration \(file.path), and so run any program as you. "
                        + "Fix it with `chmod go-w \(file.path.shellWord)` after reading it.")
            }
        }
    }
}

extension VaultError {
    fileprivate static func oversized(_ path: String) -> VaultError {
        VaultError(.invalid, "The configuration \(path) is larger than 64 KiB. Remove what does not belong there.")
    }
}

extension VaultConfiguration {
    /// Parses the contents of a configuration file.
    ///
    /// - Parameters:
    ///   - path: the file's path, used in messages and to resolve relative paths.
    ///   - home: the home folder, used to resolve paths that begin with `~/`.
    /// - Throws: ``VaultError/Code/invalid``. The message gives the file, the line, and what to write there. It quotes
    ///   no values and no unknown keys, because they may be passwords.
    package init(parsing bytes: [UInt8], path: String, home: String?) throws(VaultError) {
        guard bytes.count <= VaultConfiguration.sizeLimit else { throw .oversized(path) }
        var parser = ConfigurationParser(path: path, home: home)
        // Skips the byte order mark with which some editors begin UTF-8 files.
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            try parser.read(line)
        }
        self.init(path: path, sections: try parser.finish())
    }
}
