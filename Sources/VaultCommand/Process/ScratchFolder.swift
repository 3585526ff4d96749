import CLinux
import FoundationEssentials
import Glibc
import LinuxSystem
import Sealing

/// A folder in memory for one secret file. At the end of this value's lifetime it is wiped, with all files that other
/// programs have created in it, such as an editor's backup. Signals that would end the process take effect afterwards.
///
/// SIGKILL leaves the folder behind. It is locked as long as this process or its editor runs, so that a later process
/// can identify leftovers; see ``removeLeftovers()``. A nameless file, by memfd_create(2), would disappear with its
/// processes. But then an editor that replaces the file could not save, and vim would put its swap file into /var/tmp.
struct ScratchFolder: ~Copyable {
    let file: String
    let signals: HeldSignals
    private let folder: Folder
    /// The file as it was created. An editor may have replaced it.
    private let original: FileDescriptor
    private var isKept = false

    /// - Throws: ``CommandError`` with the exit code 8 if there is no file system in memory.
    static func create(containing secret: borrowing SecretBytes) throws -> ScratchFolder {
        // The shell and the editor stop and continue together with this process.
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

    /// Prevents programs that are started later from inheriting the folder's lock.
    func endEditing() { _ = fcntl(folder.lock.number, F_SETFD, FD_CLOEXEC) }

    var hasText: Bool {
        var status = stat()
        return lstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size > 0
    }

    /// Keeps the text for the user, who would otherwise lose it, and returns its path. Renames the folder, to
    /// distinguish it from those that killed processes leave behind.
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

        /// Returns nil if another process has the lock, or if others can use the folder.
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

    /// The session's folder in memory, or nil if there is none or if others can write to it. With a user's environment,
    /// root would find that user's folder, and the user could replace root's files there.
    static var runtimeFolder: String? {
        let files = PosixFileSystem()
        guard let path = environmentVariable("XDG_RUNTIME_DIR"), path.isAbsolutePath,
            let folder = try? files.open(path, .folder), let status = try? files.status(of: folder)
        else { return nil }
        do { try status.checkTrustworthy() } catch { return nil }
        return path
    }

    private static var roots: [String] { [runtimeFolder, "/dev/shm"].compactMap(\.self) }

    /// Returns a new folder of mode 0700. An editor that outlives this process keeps its lock.
    private static func newFolder() throws -> Folder {
        let files = PosixFileSystem()
        for root in roots {
            guard let parent = try? files.open(root, .folder), files.volume(of: parent).isInMemory else { continue }
            // Before a new folder is locked, another process may remove it as a leftover.
            for _ in 0..<10 {
                let path = "\(root)/\(usedName)" + String(UInt64.random(in: .min ... .max), radix: 36)
                guard mkdir(path, 0o700) == 0 else { break }
                guard let folder = Folder(locking: path) else { continue }
                _ = fcntl(folder.lock.number, F_SETFD, 0)
                return folder
            }
        }
        throw CommandError.unavailable(
            "Values are edited only in memory, and neither $XDG_RUNTIME_DIR nor /dev/shm is a writable file "
                + "system in memory. Use `vault get` and `vault set` with pipes.")
    }

    // MARK: Leftovers

    /// Wipes this user's folders whose processes were killed. Returns their number.
    static func removeLeftovers() -> Int {
        folders(named: usedName).count { path in
            guard let folder = Folder(locking: path) else { return false }
            return vault_wipe_folder(folder.path) == 0
        }
    }

    /// The number of texts that are being edited. Other processes have locked their folders.
    static var openCount: Int {
        folders(named: usedName).count { path in
            let folder = FileDescriptor(owning: open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
            var status = stat()
            guard folder.number >= 0, fstat(folder.number, &status) == 0 else { return false }
            return status.st_uid == geteuid() && flock(folder.number, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
        }
    }

    /// The folders with texts that could not be stored.
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
