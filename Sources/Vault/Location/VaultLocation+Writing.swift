package import LinuxSystem

extension VaultLocation {
    /// Checks the path of a file that is written: where root writes is not decided by another user's symbolic link.
    ///
    /// - Throws: ``VaultError/Code/unavailable``.
    package static func checkLinks(in path: String) throws(VaultError) {
        if let link = linkOfAnotherUser(in: path) { throw VaultError(path, leadingThrough: link) }
    }

    /// Checks the path of a file that belongs to its place, as preferences do to a home folder, and that nobody has
    /// named for this one file: root creates none that its user could not write.
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

    /// Checks a path as ``check(_:_:isKeyFile:)`` does, of a file that is written.
    static func checkWritten(_ path: String, _ what: String, isKeyFile: Bool = false) throws(VaultError) {
        try check(path, what, isKeyFile: isKeyFile)
        try checkLinks(in: path)
    }
}

extension VaultError {
    init(_ path: String, leadingThrough link: String) {
        self.init(
            .unavailable,
            "\(path) was left alone: \(link) is a symbolic link of another user, and root writes through none. Do it as "
                + "that user, or name the file that is meant.")
    }
}
