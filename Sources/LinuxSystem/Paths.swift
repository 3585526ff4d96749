private import Glibc

/// Returns the absolute path with all symbolic links resolved. If the file does not exist, returns the path at which it
/// would be created. Folders on the path need not exist.
package func resolvedPath(_ path: String) -> String {
    // At most 40 dangling links are followed, which is also the kernel's limit for links.
    if path.utf8.first == UInt8(ascii: "/") { return resolvedPath(path, links: 40) }
    return realPath(".").map { resolvedPath($0 + "/" + path, links: 40) } ?? path
}

/// Returns the absolute path. Resolves the symbolic links of the current folder's path, but not those in `path`.
package func absolutePath(_ path: String) -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : resolvedPath(".") + "/" + path
}

/// Returns the path with its symbolic links resolved. Follows at most `links` dangling links.
private func resolvedPath(_ path: String, links: Int) -> String {
    if let whole = realPath(path) { return whole }
    let (parent, name) = (path.parentFolder, path.lastPathComponent)
    guard parent != path else { return path }
    let folder = resolvedPath(parent, links: links)
    if name.isEmpty || name == "." { return folder }
    // The folder before `..` does not exist yet. It cannot become a link, so `..` refers to the folder above it.
    if name == ".." { return folder.parentFolder }
    let resolved = folder == "/" ? "/" + name : folder + "/" + name
    // If this is a dangling link, a new file is created at the link's target, so the link itself stays.
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

// Paths are split bytewise, because Swift treats a slash followed by a combining mark as one character.
extension String {
    /// The folder of the file at this path; "/" for the root, "." for a name without a folder.
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

/// Returns the path of the first executable file with this name in a colon-separated list of folders, such as PATH; nil
/// if there is none. Skips relative folders, because the result must not depend on the current folder.
package func programPath(of name: String, in folders: String) -> String? {
    folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first { path in
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
