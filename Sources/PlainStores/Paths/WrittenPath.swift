package import LinuxSystem

/// Checks of paths before root writes to them. Root must not create files that the owner of the folder could not write.
package enum WrittenPath {
    /// Checks that no symbolic link of another user can redirect what root writes. Throws
    /// ``VaultError/Code/unavailable``.
    package static func checkLinks(in path: String) throws(VaultError) {
        if let link = linkOfAnotherUser(in: path) { throw VaultError(path, leadingThrough: link) }
    }

    /// Checks that root does not create a file in another user's folder. This is for files at a default location, such
    /// as preferences in a home folder, and not for paths that a user chose. Throws ``VaultError/Code/unavailable``.
    ///
    /// - Parameter isReplaced: whether an existing file would be replaced by one that root owns.
    package static func checkParentFolder(
        of path: String, isReplaced: Bool = false, in files: any FileSystem = PosixFileSystem()
    ) throws(VaultError) {
        try checkLinks(in: path)
        let isThere = !isReplaced && (try? files.status(at: path)) != nil
        guard !isThere, let other = files.partOfAnotherUser(above: resolvedPath(path).parentFolder) else { return }
        throw VaultError(
            .unavailable,
            "\(path) was left alone: \(other) belongs to another user, who could not write to what root creates there. "
                + "Run this as that user (`sudo -u NAME`), or with root's own HOME and without that user's XDG "
                + "variables (`sudo -H`).")
    }
}

extension VaultError {
    package init(_ path: String, leadingThrough link: String) {
        self.init(
            .unavailable,
            "\(path) was left alone: \(link) is a symbolic link of another user, and root writes through none. Run "
                + "this as that user, or name the link's target.")
    }
}
