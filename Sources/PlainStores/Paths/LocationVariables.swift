private import Glibc
import LinuxSystem

/// The environment variables that contain paths, or the `given` values instead. An empty variable counts as not set.
package struct LocationVariables {
    package var given: [String: String]?

    package init(given: [String: String]? = nil) { self.given = given }

    /// Returns a variable. Throws ``VaultError/Code/invalid`` if it is not UTF-8, since repair would change the path.
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

    /// Returns a folder of the XDG Base Directory Specification, which requires relative paths to be ignored.
    package func folder(_ name: String, _ belowHome: String) throws(VaultError) -> String? {
        if let path = try self[name], path.isAbsolutePath { return path }
        // The account database is not queried, because it needs shared libraries that a static program lacks, and files
        // that a minimal container lacks. Without HOME, the caller must name the paths.
        guard let home = try self["HOME"], home.isAbsolutePath else { return nil }
        return "\(home == "/" ? "" : home)/\(belowHome)"
    }
}
