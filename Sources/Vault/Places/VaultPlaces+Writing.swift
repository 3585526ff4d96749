import LinuxSystem

extension VaultPlaces {
    /// Checks the path of a file that is written: where root writes is not decided by another user's symbolic link.
    ///
    /// - Throws: ``VaultError/Code/unavailable``.
    package static func checkLinks(in path: String) throws(VaultError) {
        if let link = linkOfAnotherUser(in: path) { throw VaultError(path, leadingThrough: link) }
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
