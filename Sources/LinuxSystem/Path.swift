private import Glibc

/// The path from the root with every symbolic link resolved: of the file, or, where there is none yet, of where it would be made.
///
/// Whether folders on the way are there or not makes no difference to the result.
package func resolvedPath(_ path: String) -> String {
    if path.utf8.first == UInt8(ascii: "/") { return resolvedPath(path, links: 40) }
    guard let current = realPath(".") else { return path }
    return resolvedPath(current + "/" + path, links: 40)
}

/// - Parameter links: how many links to nothing may still be followed; the system's own limit.
private func resolvedPath(_ path: String, links: Int) -> String {
    if let whole = realPath(path) { return whole }
    let (parent, name) = (path.parentFolder, path.lastPathComponent)
    guard parent != path else { return path }
    let folder = resolvedPath(parent, links: links)
    if name.isEmpty || name == "." { return folder }
    // No link can stand before it: what is not there is a folder, once it is.
    if name == ".." { return folder.parentFolder }
    let resolved = folder == "/" ? "/" + name : folder + "/" + name
    // A link to nothing: a file that is made takes the place that it leads to, not that of the link.
    guard links > 0, let target = target(ofLink: resolved) else { return resolved }
    return resolvedPath(target.hasPrefix("/") ? target : folder + "/" + target, links: links - 1)
}

private func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}

private func target(ofLink path: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
        guard let base = buffer.baseAddress else { return nil }
        buffer.initialize(repeating: 0)
        return readlink(path, base, Int(PATH_MAX)) > 0 ? String(validatingCString: base) : nil
    }
}

// By bytes: a combining mark that follows a slash makes one character with it.
extension String {
    /// The folder that a path names a file in; "/" for the root, "." for a bare name.
    package var parentFolder: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    /// What follows the last slash.
    package var lastPathComponent: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return self }
        return String(self[utf8.index(after: slash)...])
    }
}
