import CLinux
import Glibc
import LinuxSystem
import Sealing

/// A folder for one secret file, in memory only. It is wiped at the end of this value's lifetime, with all files that
/// another program has put there, such as an editor's backup. Signals that would end the process take effect after
/// that.
struct ScratchFolder: ~Copyable {
    let file: String
    let signals: HeldSignals
    private let folder: String
    /// Of the file as it was created. An editor may have put another one in its place.
    private let original: FileDescriptor
    private var isKept = false

    /// - Throws: ``CommandError`` with the exit code 8 if there is no file system in memory.
    static func create(containing secret: borrowing SecretBytes) throws -> ScratchFolder {
        // The shell and the editor stop and continue with this process.
        let exceptions = [SIGTSTP, SIGCONT, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH]
        let signals = try HeldSignals(besides: exceptions, problem: "The signals could not be held back")
        let folder = try newFolder()
        let file = folder + "/value"
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
        vault_wipe_folder(folder)
    }

    /// Leaves the folder to the person, whose work would be lost with it.
    consuming func keep() { isKept = true }

    /// The folder that a session has in memory; nil if there is none, or if others can write to it. Root in a user's
    /// environment would find that user's: the user could exchange what root keeps there.
    static var runtimeFolder: String? {
        let files = PosixFileSystem()
        guard let path = environmentVariable("XDG_RUNTIME_DIR"), path.isAbsolutePath,
            let folder = try? files.open(path, .folder), let status = try? files.status(of: folder)
        else { return nil }
        do { try status.checkTrustworthy() } catch { return nil }
        return path
    }

    /// Returns the path of a new folder of mode 0700.
    private static func newFolder() throws -> String {
        let files = PosixFileSystem()
        for place in [runtimeFolder, "/dev/shm"].compactMap(\.self) {
            guard let parent = try? files.open(place, .folder), files.volume(of: parent).isInMemory else { continue }
            let folder = place + "/vault-edit-" + String(UInt64.random(in: .min ... .max), radix: 36)
            if mkdir(folder, 0o700) == 0 { return folder }
        }
        throw CommandError(
            code: "unavailable", exit: .inputOutput,
            message: "A value is edited only in memory, and neither $XDG_RUNTIME_DIR nor /dev/shm is a writable file "
                + "system in memory. Use `vault get` and `vault set` in a pipe.")
    }
}
