private import Glibc
package import LinuxSystem

/// The environment variables that contain paths, or `given` if it is not nil. Empty variables are ignored.
package struct LocationVariables {
    package var given: [String: String]?

    package init(given: [String: String]? = nil) { self.given = given }

    /// Returns a variable. Throws ``VaultError/Code/invalid`` for invalid UTF-8: a repair would name a different path.
    package subscript(name: String) -> String? {
        get throws(VaultError) {
            if let given { return given[name].flatMap { $0.isEmpty ? nil : $0 } }
            guard let bytes = getenv(name), bytes.pointee != 0 else { return nil }
            guard let text = String(validatingCString: bytes) else {
                throw VaultError(.invalid, "The environment variable \(name) is not UTF-8. Set it to a path in UTF-8.")
            }
            return text
        }
    }

    /// Returns an XDG folder's path. Relative paths are ignored, as the XDG Base Directory Specification requires.
    package func folder(_ name: String, _ belowHome: String) throws(VaultError) -> String? {
        if let path = try self[name], path.isAbsolutePath { return path }
        // The account database is not queried: a static program lacks the necessary shared libraries, and a minimal
        // container lacks the necessary files. If HOME is not set, the caller must name the paths.
        guard let home = try self["HOME"], home.isAbsolutePath else { return nil }
        return "\(home == "/" ? "" : home)/\(belowHome)"
    }
}

/// Checks of paths before root writes to them. Root must not create files that the folder's owner could not change.
package enum WrittenPath {
    /// Checks that `path` contains no symbolic link through which another user could redirect root's writes. Throws
    /// ``VaultError/Code/unavailable``.
    package static func checkLinks(in path: String) throws(VaultError) {
        if let link = linkOfAnotherUser(in: path) { throw VaultError(path, leadingThrough: link) }
    }

    /// Checks that root does not create a file in another user's folder. Use this for files at a default location, such
    /// as preferences in a home folder, but not for paths that a user chose. Throws ``VaultError/Code/unavailable``.
    ///
    /// - Parameter isReplaced: whether root replaces an existing file with a new one, which root then owns.
    package static func checkParentFolder(
        of path: String, isReplaced: Bool = false, in files: any FileSystem = PosixFileSystem()
    ) throws(VaultError) {
        try checkLinks(in: path)
        let isThere = !isReplaced && (try? files.status(at: path)) != nil
        guard !isThere, let other = files.partOfAnotherUser(above: resolvedPath(path).parentFolder) else { return }
        throw VaultError(
            .unavailable,
            "\(path) was left alone: \(other) belongs to another user, who could not change a file that root creates "
                + "there. Run this as that user (`sudo -u NAME`), or with root's own HOME and without that user's "
                + "XDG variables (`sudo -H`).")
    }
}

extension VaultError {
    package init(_ path: String, leadingThrough link: String) {
        self.init(
            .unavailable,
            "\(path) was left alone: \(link) is a symbolic link of another user, so root does not write through it. "
                + "Run this as that user, or name the link's target.")
    }
}
