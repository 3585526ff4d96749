import CLinux
import Glibc
import Sealing

/// A value in a file that exists only in memory and cannot be changed, for programs that read a secret from a file.
///
/// The file has no name in any folder, and disappears with the last process that has its descriptor. Its pages may be
/// swapped out, like those of the program that reads it.
enum MemoryFile {
    /// Returns the descriptor of a new file. Other programs inherit it, and this process keeps it open until it exits.
    static func create(_ value: borrowing SecretBytes) throws(CommandError) -> Int32 {
        let problem = "No file could be created in memory"
        let file = try SystemCall.retrying(problem) { vault_memory_file() }
        defer { close(file) }
        let error = value.withUnsafeBytes { SystemCall.writeAll($0, to: file) }
        guard error == 0 else { throw .system(problem, error) }
        // ssh refuses a key that others can read.
        guard lseek(file, 0, SEEK_SET) == 0, fchmod(file, 0o400) == 0, vault_seal_memory_file(file) == 0 else {
            throw .system(problem, errno)
        }
        // Shell scripts use descriptors up to 9 for their own purposes.
        let descriptor = fcntl(file, F_DUPFD, 10)
        // EINVAL means that the limit allows no descriptor from 10 on.
        guard descriptor >= 0 else { throw .system(problem, errno == EINVAL ? EMFILE : errno) }
        return descriptor
    }

    /// Returns the path at which a program that has inherited the descriptor opens the file.
    static func path(of descriptor: Int32) throws(CommandError) -> String {
        guard access("/proc/self/fd", X_OK) == 0 else {
            throw CommandError.unavailable(
                "Option --file needs /proc, which is not mounted here. Use --env or --stdin.")
        }
        return "/proc/self/fd/\(descriptor)"
    }
}
