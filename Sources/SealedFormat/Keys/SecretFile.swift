private import Glibc
package import LinuxSystem
package import Sealing

/// A secret file (key file, age identities). Like ssh, this type refuses files that others can access, with exceptions.
package struct SecretFile: ~Copyable {
    package enum Sharing: Sendable {
        /// The reason for accepting a file that others can read: it is below a secrets folder of systemd or Docker, on
        /// an in-memory file system (which Kubernetes uses for secrets) or a read-only one, or the user has agreed.
        case secretFolder, inMemory, readOnly, accepted
    }

    private let contents: SecretBytes
    /// The reason why the contents cannot be trusted, even though they are secret; nil if they can be trusted.
    package let distrust: Distrust?
    /// The reason why the file is accepted although other users can read it; nil if only its owner can read it.
    package let sharing: Sharing?

    package consuming func takeContents() -> SecretBytes { contents }

    /// Reads a file that other users must not be able to access, except as the parameters allow.
    /// - Parameters:
    ///   - limit: the maximum size of the file in bytes.
    ///   - room: the number of zero bytes to leave before the contents, for the caller's use.
    ///   - secretFolders: the folders below which any user may read root's files, such as those of systemd and Docker.
    ///   - acceptsShared: whether other users may read root's files in all folders.
    /// - Throws: `keyMissing`, `keyUnreadable`, `keyExposed`, `keyShared` or `outOfMemory`.
    package static func read(
        _ path: String, upTo limit: UInt64, room: Int = 0, secretFolders: [String], acceptsShared: Bool,
        in fileSystem: any FileSystem
    ) throws(LogError) -> SecretFile {
        let file = try reading(path, fileSystem.open(path, .read))
        // The status is read from the open file, because the path may now point to a different file.
        let status = try reading(path, fileSystem.status(of: file))
        try reading(path, status.checkRegular(upTo: limit))
        var distrust: Distrust?
        do throws(Distrust) { try status.checkTrustworthy() } catch { distrust = error }
        var sharing: Sharing?
        // Root may use another user's key file, because root need not trust the file's contents.
        let isReadHere = distrust != .anotherOwner || geteuid() == 0
        if !isReadHere || status.mode & 0o077 != 0 {
            // Other users may be able to read root's files in some folders, but must never be able to change them.
            guard status.owner == 0, status.mode & 0o022 == 0 else { throw LogError(.keyExposed, path) }
            let reason = reason(toTrust: file, status, path, secretFolders, in: fileSystem)
            sharing = reason ?? (acceptsShared ? .accepted : nil)
            guard sharing != nil else { throw LogError(.keyShared, path) }
        }
        var contents = try translated(SecretBytes(zeros: room + Int(status.size), isKey: true))
        let count = try contents.withUnsafeMutableBytes { (contents) throws(LogError) in
            let text = UnsafeMutableRawBufferPointer(rebasing: contents[room...])
            return try reading(path, fileSystem.read(file, into: text, at: 0))
        }
        contents.truncate(to: room + count)
        return SecretFile(contents: contents, distrust: distrust, sharing: sharing)
    }

    private static func reading<Result: ~Copyable>(
        _ path: String, _ call: @autoclosure () throws(SystemError) -> Result
    ) throws(LogError) -> Result {
        do { return try call() } catch {
            guard error.isMissing else { throw LogError(.keyUnreadable, path, systemError: error.number) }
            throw LogError(.keyMissing, path)
        }
    }

    /// Returns the reason for accepting a file that root owns and other users can read; nil if there is no reason.
    private static func reason(
        toTrust file: borrowing FileDescriptor, _ status: FileStatus, _ path: String, _ secretFolders: [String],
        in fileSystem: any FileSystem
    ) -> Sharing? {
        let resolved = resolvedPath(path)
        // Other users must not be able to change where the path leads: it could then lead to a file that they can read.
        guard isOutOfReach(path), isOutOfReach(resolved) else { return nil }
        // Without /proc, an open file's path is unknown, so check that this path still leads to the open file.
        if (try? fileSystem.status(at: resolved))?.identity == status.identity, isBelow(secretFolders, resolved) {
            return .secretFolder
        }
        let volume = fileSystem.volume(of: file)
        if volume.isInMemory { return .inMemory }
        return volume.isReadOnly ? .readOnly : nil
    }

    /// Returns whether a path without symbolic links is below one of the secrets folders.
    package static func isBelow(_ secretFolders: [String], _ resolved: String) -> Bool {
        secretFolders.contains { resolved.begins(with: resolvedPath($0) + "/") }
    }

    /// Returns whether only root and this user could have created or replaced the folders and links in a path.
    private static func isOutOfReach(_ path: String) -> Bool {
        let components = absolutePath(path).split(separator: "/")
        return components.indices.allSatisfy { index in
            let part = "/" + components[...index].joined(separator: "/")
            var link = stat()
            var target = stat()
            guard lstat(part, &link) == 0, stat(part, &target) == 0 else { return false }
            let isOurs = [link, target].allSatisfy { $0.st_uid == 0 || $0.st_uid == geteuid() }
            // In a sticky folder, other users can add files but cannot replace files that root or this user owns.
            let isOpen = target.st_mode & 0o022 != 0 && target.st_mode & S_ISVTX == 0
            return isOurs && !(isOpen && target.st_mode & S_IFMT == S_IFDIR)
        }
    }
}
