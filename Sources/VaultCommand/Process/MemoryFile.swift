import CLinux
import Glibc
import Sealing

/// A read-only file that exists only in memory and contains a value, for programs that read a secret from a file.
///
/// The file has no name in any folder. The kernel frees it when its last descriptor is closed. Its pages may be swapped
/// out, like the memory of the program that reads it.
enum MemoryFile {
    /// Returns the descriptor of a new memory file. Child processes inherit it, and this process keeps it open.
    static func create(_ value: borrowing SecretBytes) throws(CommandError) -> Int32 {
        let problem = "No file could be created in memory"
        let file = try SystemCall.retrying(problem) { vault_memory_file() }
        defer { close(file) }
        let error = value.withUnsafeBytes { SystemCall.writeAll($0, to: file) }
        guard error == 0 else { throw .system(problem, error) }
        // The mode is 0400, because ssh refuses a key file that other users can read.
        guard lseek(file, 0, SEEK_SET) == 0, fchmod(file, 0o400) == 0, vault_seal_memory_file(file) == 0 else {
            throw .system(problem, errno)
        }
        // Shell scripts use descriptors up to 9 for their own purposes, so the file gets a higher one.
        let descriptor = fcntl(file, F_DUPFD, 10)
        // EINVAL means that the limit on open files allows no descriptor above 9.
        guard descriptor >= 0 else { throw .system(problem, errno == EINVAL ? EMFILE : errno) }
        return descriptor
    }

    /// Returns the path at which a program that has inherited `descriptor` can open the file.
    static func path(of descriptor: Int32) throws(CommandError) -> String {
        guard access("/proc/self/fd", X_OK) == 0 else {
            throw CommandError.unavailable(
                "Option --file needs /proc, which is not mounted here. Use --env or --stdin.")
        }
        return "/proc/self/fd/\(descriptor)"
    }
}
