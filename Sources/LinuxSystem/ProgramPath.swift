private import Glibc

/// Returns the first executable file of a name in folders that are separated by colons, as those of PATH are; nil if
/// there is none. Relative folders do not count: what is run must not depend on the folder in which a person works.
package func programPath(of name: String, in folders: String) -> String? {
    folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first { path in
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
