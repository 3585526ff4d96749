package import LinuxSystem

/// Checks paths before root writes to them: it must create nothing that the owner of the files around could not.
package enum WrittenPath {
    /// Checks the path of a file that is written: another user's symbolic link must not redirect what root writes.
    /// Throws ``VaultError/Code/unavailable``.
    package static func checkLinks(in path: String) throws(VaultError) {
        if let link = linkOfAnotherUser(in: path) { throw VaultError(path, leadingThrough: link) }
    }

    /// Checks the path of a file at its default location, such as preferences in a home folder, not at a chosen one.
    ///
    /// - Parameter isReplaced: whether the file becomes root's even if there is one.
    /// - Throws: ``VaultError/Code/unavailable``.
    package static func checkParentFolder(
        of path: String, isReplaced: Bool = false, in files: any FileSystem = PosixFileSystem()
    ) throws(VaultError) {
        try checkLinks(in: path)
        let isThere = !isReplaced && (try? files.status(at: path)) != nil
        guard !isThere, let other = files.partOfAnotherUser(above: resolvedPath(path).parentFolder) else { return }
        throw VaultError(
            .unavailable,
            "\(path) was left alone: \(other) belongs to another user, who could not write what root creates there. Do "
                + "it as that user, as `sudo -u NAME` does, or with root's own HOME and without that user's XDG "
                + "variables, as `sudo -H` does.")
    }
}

extension VaultError {
    package init(_ path: String, leadingThrough link: String) {
        self.init(
            .unavailable,
            "\(path) was left alone: \(link) is a symbolic link of another user, and root writes through none. Do it "
                + "as that user, or name the file that is meant.")
    }
}
