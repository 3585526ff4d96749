private import Glibc
import LinuxSystem

/// Several vaults by name: the file `$XDG_CONFIG_HOME/vault/config`, by default in `~/.config`.
///
///     # A comment has a line of its own.
///     [work]
///     vault = ~/Sync/work.vault
///     key-file = "/media/usb/key of work"
///
/// A path that begins with `~/` is below the home folder, and a relative one below the folder of the file. In double
/// quotes, `\"` and `\\` stand for a quote and a backslash.
package struct VaultConfiguration: Hashable, Sendable {
    package struct Section: Hashable, Sendable {
        /// 1 to 64 letters, digits, `.`, `_` and `-`.
        package let name: String
        package let vault: String
        package let keyFile: String?
        /// The command whose output is the key, as it is in the file.
        package let keyCommand: String?
        /// The path of a file with private keys.
        package let identity: String?
        /// Whether a vault in a database may be read from this machine's copy while no server answers.
        package var allowsOffline = false
        /// Whether git exchanges the vault file for others of its history.
        package var isInGit = false
    }

    /// The file's path, even if there is no file.
    package let path: String
    package let sections: [Section]

    init(path: String, sections: [Section]) { (self.path, self.sections) = (path, sections) }

    package var defaultSection: Section? { sections.first { $0.name == "default" } }

    /// Returns the section of a name. Throws ``VaultError/Code/invalid`` if there is none, with the names that exist.
    package func section(named name: String) throws(VaultError) -> Section {
        if let section = sections.first(where: { $0.name.isSame(as: name) }) { return section }
        // Any other text is not quoted: it may have control characters, or be a secret, typed in the wrong place.
        let missing = VaultConfiguration.isName(name[...]) ? "No vault is named \"\(name)\"" : "No vault has that name"
        guard !sections.isEmpty else {
            throw VaultError(
                .invalid,
                "\(missing): \(path) names none. Write a line with a name in brackets there, such as [work], "
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
}

// MARK: - The file

extension VaultConfiguration {
    static let sizeLimit = 64 << 10

    /// Reads the configuration. Without a file, or without a home folder, there are no sections.
    ///
    /// - Parameter variables: the environment.
    /// - Throws: ``VaultError/Code/locked`` if others may change the file: anyone who can write a `key-command` runs
    ///   programs as this user. It is the code of a key file that is open to others, and has the same remedy. `invalid`
    ///   if it cannot be parsed; `unavailable`.
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
            // Root must not make it its own: the user could not read it any more.
            case .anotherOwner where geteuid() == 0:
                throw VaultError(.locked, "The configuration \(error.reason(of: file.path)).")
            case .anotherOwner:
                throw VaultError(
                    .locked,
                    "The configuration \(file.path) belongs to another user, who could have any program run by it. "
                        + "Fix it with `chown \(geteuid()) \(file.path)` (as root) after reading it.")
            case .writableByOthers:
                throw VaultError(
                    .locked,
                    "Others may change the configuration \(file.path), and have any program run by it. "
                        + "Fix it with `chmod go-w \(file.path)` after reading it.")
            }
        }
    }
}

extension VaultError {
    fileprivate static func oversized(_ path: String) -> VaultError {
        VaultError(.invalid, "The configuration \(path) is larger than 64 KiB. Remove what does not belong there.")
    }
}

// MARK: - Parsing

extension VaultConfiguration {
    /// Parses the bytes of a file.
    ///
    /// - Parameters:
    ///   - path: where the file is, for messages and relative paths.
    ///   - home: the home folder, for paths that begin with `~/`.
    /// - Throws: ``VaultError/Code/invalid``, with the file, the line, and what to write there. The message quotes no
    ///   value and no unknown word: somebody may have put a password there.
    package init(parsing bytes: [UInt8], path: String, home: String?) throws(VaultError) {
        guard bytes.count <= VaultConfiguration.sizeLimit else { throw .oversized(path) }
        var parser = ConfigurationParser(path: path, home: home)
        // Some editors begin UTF-8 with a byte order mark.
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            try parser.read(line)
        }
        self.init(path: path, sections: try parser.finish())
    }
}
