import CLinux
import FoundationEssentials
import Glibc
import LinuxSystem
import Sealing

/// An in-memory folder for one secret file. At the end of this value's lifetime, the folder is wiped, including files
/// from other programs, such as an editor's backup. Until then, signals that would end the process are blocked.
///
/// SIGKILL leaves the folder behind. This process and its editor lock it while they run, so that a later process can
/// identify leftovers; see ``removeLeftovers()``. A nameless file (memfd_create(2)) would vanish with its processes,
/// but an editor that replaces the file on saving could not save it, and vim would put a swap file in /var/tmp.
struct ScratchFolder: ~Copyable {
    let file: String
    let signals: HeldSignals
    private let folder: Folder
    /// The secret file as this process created it. An editor may since have replaced it with a new file.
    private let original: FileDescriptor
    private var isKept = false

    /// - Throws: ``CommandError`` with exit code 8 if no writable in-memory file system is available.
    static func create(containing secret: borrowing SecretBytes) throws -> ScratchFolder {
        // Stop signals and SIGCONT are not blocked, so that shell, editor and this process stop and continue together.
        let exceptions = [SIGTSTP, SIGCONT, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH]
        let signals = try HeldSignals(besides: exceptions, problem: "The signals could not be blocked")
        let folder = try newFolder()
        let file = folder.path + "/value"
        let original = FileDescriptor(owning: open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
        let scratch = ScratchFolder(file: file, signals: signals, folder: folder, original: original)
        let number = scratch.original.number
        guard number >= 0 else { throw CommandError.system("\(file) could not be created", errno) }
        let error = secret.withUnsafeBytes { SystemCall.writeAll($0, to: number) }
        guard error == 0 else { throw CommandError.system("\(file) could not be written", error) }
        return scratch
    }

    deinit {
        if isKept { return }
        vault_wipe_file(original.number)
        vault_wipe_folder(folder.path)
    }

    /// Keeps programs that are started after the editor has ended from inheriting the lock on the folder.
    func endEditing() { _ = fcntl(folder.lock.number, F_SETFD, FD_CLOEXEC) }

    var hasText: Bool {
        var status = stat()
        return lstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size > 0
    }

    /// Keeps the text, so that the user does not lose it, and returns its path. Renames the folder, to distinguish it
    /// from folders left behind by killed processes.
    ///
    /// - Parameter size: the size of the text, without a newline that the editor added; nil if it is unknown.
    consuming func keep(_ size: Int? = nil) -> String {
        isKept = true
        if let size { truncate(file, size) }
        let kept =
            folder.path.parentFolder + "/" + ScratchFolder.keptName
            + folder.path.lastPathComponent
            .dropFirst(ScratchFolder.usedName.utf8.count)
        return (rename(folder.path, kept) == 0 ? kept : folder.path) + "/value"
    }

    private static let usedName = "vault-edit-"
    private static let keptName = "vault-kept-"

    private final class Folder {
        let path: String
        let lock: FileDescriptor

        /// Returns nil if another process has locked the folder, or if other users can access it.
        init?(locking path: String) {
            self.path = path
            lock = FileDescriptor(owning: open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
            var opened = stat()
            var found = stat()
            guard lock.number >= 0, flock(lock.number, LOCK_EX | LOCK_NB) == 0, fstat(lock.number, &opened) == 0,
                lstat(path, &found) == 0, (opened.st_dev, opened.st_ino) == (found.st_dev, found.st_ino),
                opened.st_uid == geteuid(), opened.st_mode & 0o7777 == 0o700
            else { return nil }
        }
    }

    /// The session's in-memory folder, `$XDG_RUNTIME_DIR`; nil if there is none, or if another user owns or can write
    /// to it. If root runs with a user's environment, that user owns the folder and could replace root's files.
    static var runtimeFolder: String? {
        let files = PosixFileSystem()
        guard let path = environmentVariable("XDG_RUNTIME_DIR"), path.isAbsolutePath,
            let folder = try? files.open(path, .folder), let status = try? files.status(of: folder)
        else { return nil }
        do { try status.checkTrustworthy() } catch { return nil }
        return path
    }

    private static var roots: [String] { [runtimeFolder, "/dev/shm"].compactMap(\.self) }

    /// Returns a new, locked folder of mode 0700. An editor that outlives this process keeps the lock.
    private static func newFolder() throws -> Folder {
        let files = PosixFileSystem()
        for root in roots {
            guard let parent = try? files.open(root, .folder), files.volume(of: parent).isInMemory else { continue }
            // Another process may remove the new folder as a leftover before it is locked. Creation is then repeated.
            for _ in 0..<10 {
                let path = "\(root)/\(usedName)" + String(UInt64.random(in: .min ... .max), radix: 36)
                guard mkdir(path, 0o700) == 0 else { break }
                guard let folder = Folder(locking: path) else { continue }
                _ = fcntl(folder.lock.number, F_SETFD, 0)
                return folder
            }
        }
        throw CommandError.unavailable(
            "Values are edited only in memory, and neither $XDG_RUNTIME_DIR nor /dev/shm is a writable "
                + "in-memory file system. Use `vault get` and `vault set` with pipes.")
    }

    /// Wipes the in-memory folders that this user's killed processes left behind. Returns the number of folders wiped.
    static func removeLeftovers() -> Int {
        folders(named: usedName).count { path in
            guard let folder = Folder(locking: path) else { return false }
            return vault_wipe_folder(folder.path) == 0
        }
    }

    /// The number of edits in progress, counted as this user's in-memory folders that other processes have locked.
    static var openCount: Int {
        folders(named: usedName).count { path in
            let folder = FileDescriptor(owning: open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
            var status = stat()
            guard folder.number >= 0, fstat(folder.number, &status) == 0 else { return false }
            return status.st_uid == geteuid() && flock(folder.number, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
        }
    }

    /// The paths of this user's folders that contain edited text that could not be stored in a vault.
    static var kept: [String] {
        folders(named: keptName).filter { path in
            var status = stat()
            return lstat(path, &status) == 0 && status.st_uid == geteuid()
        }
    }

    private static func folders(named prefix: String) -> [String] {
        roots.flatMap { root in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
            return names.filter { $0.hasPrefix(prefix) }.sorted().map { "\(root)/\($0)" }
        }
    }
}
