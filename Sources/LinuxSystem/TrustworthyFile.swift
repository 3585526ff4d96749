private import Glibc

/// An open file that only root or this process's user can have written. Some files decide which programs a process
/// runs, which vault it opens, and which state it considers the newest: they are read through this type alone.
///
/// The opened file is checked: its path may lead elsewhere by now. Root trusts only root's, but may read a user's.
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

    /// Returns the problem with a file or folder, as part of a sentence that contains its path. Advice is included if
    /// it is the same for every file.
    package func reason(of path: String) -> String {
        switch self {
        case .anotherOwner where geteuid() == 0:
            "\(path) belongs to another user, and root trusts no files of other users: run this with root's own HOME, "
                + "as `sudo -H` does, and without that user's XDG variables, and name the vault and its key file by "
                + "their paths"
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
    /// Returns the part of a path through which another user would control files that root creates in a folder: a
    /// symbolic link that leads to it, or the folder itself. The files would belong to root, so that user could not
    /// write to them, but could replace them. Returns nil if there is none, and for users other than root, whom the
    /// system already restricts.
    ///
    /// - Parameter folder: the folder of the files as it was named, with its links. If it does not exist, the nearest
    ///   one above it counts.
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
    /// Whether root or this process's user is at the other end. No one else is sent a secret.
    package var isTrustworthy: Bool { user == geteuid() || user == 0 }
}

/// Returns the first symbolic link in a path that belongs to another user; nil if there is none, and for users other
/// than root. The owner decides where the link leads, so root would write a file of that user's choice.
package func linkOfAnotherUser(in path: String) -> String? {
    guard geteuid() == 0 else { return nil }
    var rest = Array(parts(of: absolutePath(path)).reversed())
    // 40 is the system's own limit.
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
