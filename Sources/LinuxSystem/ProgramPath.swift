private import Glibc

/// Returns the path of the first executable file with a name in folders that are separated by colons, as in PATH; nil
/// if there is none. Relative folders are skipped: the program that runs must not depend on the current folder.
package func programPath(of name: String, in folders: String) -> String? {
    folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first { path in
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
