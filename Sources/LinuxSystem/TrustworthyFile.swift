private import Glibc

/// An open file that only root or this process's user can have written. What a process believes decides which programs
/// it runs, which vault it opens, and which state it takes for the newest one: it is read through this type alone.
///
/// The opened file is checked, since its path may lead elsewhere by now. Root believes its own files alone: it only
/// reads a user's.
package struct TrustworthyFile: ~Copyable, Sendable {
    package let descriptor: FileDescriptor
    package let status: FileStatus

    /// Takes over an opened file. Throws unless it can be believed.
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

/// Why a file or folder is not believed.
package enum Distrust: Error, Hashable, Sendable {
    case anotherOwner, writableByOthers
    /// It cannot be looked at.
    case system(SystemError)

    /// Returns what is wrong with a file or folder, and what to do about it if that is no matter of its contents: a
    /// part of a sentence that begins with the path or names it.
    package func reason(of path: String) -> String {
        switch self {
        case .anotherOwner where geteuid() == 0:
            "\(path) belongs to another user, and root believes no files of other users: run this with root's own HOME, as "
                + "`sudo -H` does, and without that user's XDG variables, and name the vault and its key file by their "
                + "paths"
        case .anotherOwner: "\(path) belongs to another user"
        case .writableByOthers: "others can write to \(path)"
        case .system(let error): "\(path): \(SystemError.words(for: error.number))"
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
    /// Returns what lets another user decide over files that root would create in a folder: a symbolic link that leads
    /// to it, or the folder itself. nil for anyone but root, whom the system refuses. The files would be root's: that
    /// user could not write them, but could exchange them.
    ///
    /// - Parameter folder: where the files would be, as it was named: with its links. If it does not exist, the one
    ///   above it counts.
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
    /// Whether root or this process's user is at the other end: a secret is handed to nobody else.
    package var isTrustworthy: Bool { user == geteuid() || user == 0 }
}

/// Returns the first symbolic link of another user's through which a path leads; nil for anyone but root, and if there
/// is none. That user decides where it leads: root would write a file of the user's choice.
package func linkOfAnotherUser(in path: String) -> String? {
    guard geteuid() == 0 else { return nil }
    var rest = Array(parts(of: absolutePath(path)).reversed())
    // 40: the system's own limit.
    var (folder, links) = ("/", 40)
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
