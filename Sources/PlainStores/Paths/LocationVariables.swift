private import Glibc
import LinuxSystem

/// Looks up the environment variables that name paths, or the given ones instead. An empty one counts as not set.
package struct LocationVariables {
    package var given: [String: String]?

    package init(given: [String: String]? = nil) { self.given = given }

    /// - Throws: ``VaultError/Code/invalid`` for a value that is not UTF-8: a repaired path would lead to another file.
    package subscript(name: String) -> String? {
        get throws(VaultError) {
            if let given { return given[name].flatMap { $0.isEmpty ? nil : $0 } }
            guard let bytes = getenv(name), bytes.pointee != 0 else { return nil }
            guard let text = String(validatingCString: bytes) else {
                throw VaultError(.invalid, "The environment variable \(name) is not UTF-8. Set it to a path that is.")
            }
            return text
        }
    }

    /// Returns a folder of the XDG Base Directory Specification, which requires that relative paths are ignored.
    package func folder(_ name: String, _ belowHome: String) throws(VaultError) -> String? {
        if let path = try self[name], path.isAbsolutePath { return path }
        // The account database needs shared libraries that a static program lacks, and files that a minimal container
        // lacks: without HOME the paths must be named.
        guard let home = try self["HOME"], home.isAbsolutePath else { return nil }
        return "\(home == "/" ? "" : home)/\(belowHome)"
    }
}
