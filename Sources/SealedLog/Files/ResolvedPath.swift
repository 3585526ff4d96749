private import Glibc

/// The path with every symbolic link resolved: of the file, or, where there is none yet, of where it would be made.
package func resolvedPath(_ path: String) -> String {
    resolvedPath(path, links: 40)
}

/// - Parameter links: how many links to nothing may still be followed; the system's own limit.
private func resolvedPath(_ path: String, links: Int) -> String {
    if let whole = realPath(path) { return whole }
    let folder = realPath(path.parentFolder) ?? path.parentFolder
    let resolved = folder == "/" ? "/" + path.lastPathComponent : folder + "/" + path.lastPathComponent
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
