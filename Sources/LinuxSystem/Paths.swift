private import Glibc

/// Returns the absolute path with every symbolic link resolved. If there is no file yet, this is the path at which one
/// would be created. The folders on the way need not exist.
package func resolvedPath(_ path: String) -> String {
    // 40 is the system's own limit.
    if path.utf8.first == UInt8(ascii: "/") { return resolvedPath(path, links: 40) }
    return realPath(".").map { resolvedPath($0 + "/" + path, links: 40) } ?? path
}

/// Returns the absolute path. The symbolic links of the current folder are resolved, but not those in `path`.
package func absolutePath(_ path: String) -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : resolvedPath(".") + "/" + path
}

/// Returns the resolved path; `links` is the number of dangling links that may still be followed.
private func resolvedPath(_ path: String, links: Int) -> String {
    if let whole = realPath(path) { return whole }
    let (parent, name) = (path.parentFolder, path.lastPathComponent)
    guard parent != path else { return path }
    let folder = resolvedPath(parent, links: links)
    if name.isEmpty || name == "." { return folder }
    // The folder before the two dots does not exist. It will be a folder, not a link.
    if name == ".." { return folder.parentFolder }
    let resolved = folder == "/" ? "/" + name : folder + "/" + name
    // This is a dangling link: a new file is created at its target, and does not replace the link.
    guard links > 0, let target = target(ofLink: resolved) else { return resolved }
    return resolvedPath(target.isAbsolutePath ? target : folder + "/" + target, links: links - 1)
}

private func realPath(_ path: String) -> String? {
    var found = realpath(path, nil)
    while found == nil, errno == EINTR { found = realpath(path, nil) }
    guard let resolved = found else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}

func target(ofLink path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = uninterrupted { readlink(path, &bytes, Int(PATH_MAX)) }
    return count > 0 ? String(validating: bytes[..<count], as: UTF8.self) : nil
}

// Paths are split by bytes: a combining mark after a slash forms one character with it.
extension String {
    /// The folder of the file at this path; "/" for the root, "." for a bare name.
    package var parentFolder: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    package var isAbsolutePath: Bool { utf8.first == UInt8(ascii: "/") }

    package var lastPathComponent: String {
        utf8.lastIndex(of: UInt8(ascii: "/")).map { String(self[utf8.index(after: $0)...]) } ?? self
    }

    /// The folders above the file at this path, from the nearest to the root.
    var foldersAbove: some Sequence<String> {
        sequence(first: self) { $0.parentFolder == $0 ? nil : $0.parentFolder }.dropFirst()
    }
}

/// Returns the path of the first executable file with a name in folders that are separated by colons, as in PATH; nil
/// if there is none. Relative folders are skipped: the program that runs must not depend on the current folder.
package func programPath(of name: String, in folders: String) -> String? {
    folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first { path in
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
