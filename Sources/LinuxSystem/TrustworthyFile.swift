private import Glibc

/// An open file that only root or this process's user can have written. Files that determine which programs run, which
/// vault is opened, and which state is the newest are read only through this type.
///
/// The open file is checked, since its path may now refer to another. Root can read all files, but trusts only its own.
package struct TrustworthyFile: ~Copyable, Sendable {
    package let descriptor: FileDescriptor
    package let status: FileStatus

    package init(
        _ descriptor: consuming FileDescriptor, in fileSystem: any FileSystem, withTimes: Bool = false
    ) throws(Distrust) {
        let found: FileStatus
        do { found = try fileSystem.status(of: descriptor, withTimes: withTimes) } catch { throw .system(error) }
        try found.checkTrustworthy()
        self.init(descriptor, found)
    }

    private init(_ descriptor: consuming FileDescriptor, _ status: FileStatus) {
        self.descriptor = descriptor
        self.status = status
    }

    package consuming func takeDescriptor() -> FileDescriptor { descriptor }
}

package enum Distrust: Error, Hashable, Sendable {
    case anotherOwner, writableByOthers
    case system(SystemError)

    /// Returns a sentence fragment with the path of a file or folder and its problem, and with advice for root.
    package func reason(of path: String) -> String {
        switch self {
        case .anotherOwner where geteuid() == 0:
            "\(path) belongs to another user, and root trusts only its own files: run this with root's own HOME, as "
                + "`sudo -H` does, without that user's XDG variables, and specify the paths of the vault and its "
                + "key file"
        case .anotherOwner: "\(path) belongs to another user"
        case .writableByOthers: "others can write to \(path)"
        case .system(let error): "\(path): \(SystemError.message(for: error.number))"
        }
    }
}

extension FileStatus {
    /// Whether root or this process's user is the owner.
    package var isOwnedHere: Bool { owner == geteuid() || owner == 0 }

    package func checkTrustworthy() throws(Distrust) {
        guard isOwnedHere else { throw .anotherOwner }
        guard mode & 0o022 == 0 else { throw .writableByOthers }
    }
}

extension FileSystem {
    /// Returns a part of a folder's path that another user owns: a symbolic link, or the folder itself. That user could
    /// replace files that root creates in the folder, even without write access to the files. Returns nil if there is
    /// no such part, or if this process does not run as root and is therefore limited in what it can write.
    ///
    /// - Parameter folder: the folder as specified by the caller, with unresolved links. If it does not exist, its
    ///   nearest existing parent is checked.
    package func partOfAnotherUser(above folder: String) -> String? {
        guard geteuid() == 0 else { return nil }
        if let link = linkOfAnotherUser(in: folder) { return link }
        var path = folder
        while true {
            do throws(SystemError) { return try status(at: path).isOwnedHere ? nil : path } catch {
                guard error.isMissing, path != path.parentFolder else { return nil }
            }
            path = path.parentFolder
        }
    }
}

extension LocalPeer {
    /// Whether the peer process belongs to root or this process's user. Secrets are sent only to such a peer.
    package var isTrustworthy: Bool { user == geteuid() || user == 0 }
}

/// Returns a path's first symbolic link that another user owns; nil if there is none, or if this process does not run
/// as root. The link's owner determines its target, so root would write to a file of that user's choice.
package func linkOfAnotherUser(in path: String) -> String? {
    guard geteuid() == 0 else { return nil }
    var rest = Array(parts(of: absolutePath(path)).reversed())
    // Like the kernel, this loop follows at most 40 links.
    var folder = "/"
    var links = 40
    while let name = rest.popLast() {
        if name == "." { continue }
        if name == ".." {
            folder = folder.parentFolder
            continue
        }
        let full = folder == "/" ? "/" + name : folder + "/" + name
        var found = stat()
        guard lstat(full, &found) == 0, found.st_mode & S_IFMT == S_IFLNK, let target = target(ofLink: full), links > 0
        else {
            folder = full
            continue
        }
        guard found.st_uid == 0 else { return full }
        links -= 1
        rest += parts(of: target).reversed()
        if target.isAbsolutePath { folder = "/" }
    }
    return nil
}

private func parts(of path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
}
