private import Glibc
import LinuxSystem
import Sealing

/// The folder in which this machine remembers vaults. Its small files are written in place under a lock.
///
/// A file counts only if no other user can have written it, and no link is followed out of the folder: what is opened
/// is checked, as a key file is. A part that exists and cannot be used is an error.
struct MemoryFolder: Sendable {
    let path: String
    let fileSystem: any FileSystem

    /// Returns the first `size` bytes of a file; nil if there is none. Reports a file that exists and cannot be read or
    /// written.
    func read(_ name: String, size: Int, report: (Notice) -> Void) -> [UInt8]? {
        MemoryFile(name, in: self).read(size, report: report)
    }

    func remove(_ name: String) { try? fileSystem.remove(location(of: name)) }

    func location(of name: String) -> String { "\(path)/\(name)" }

    // MARK: Checks

    /// nil if there is no folder.
    func status() throws(Notice) -> FileStatus? {
        let status: FileStatus
        do { status = try fileSystem.status(at: path) } catch {
            guard !error.isMissing, error.number != ENOTDIR else { return nil }
            throw unusable(path, error)
        }
        guard status.isDirectory else { throw .memoryUnusable("\(path) is no folder") }
        try checkOwner(of: path, status)
        return status
    }

    func check(_ status: FileStatus, _ location: String) throws(Notice) {
        guard status.isRegularFile else { throw .memoryUnusable("\(location) is \(status.kind)") }
        // The other name could be that of a file that an attacker wants overwritten.
        guard status.links <= 1 else { throw .memoryUnusable("\(location) has another name, a hard link") }
        try checkOwner(of: location, status)
    }

    private func checkOwner(of location: String, _ status: FileStatus) throws(Notice) {
        guard status.isOwnedHere else {
            throw .memoryUnusable("\(location) belongs to another user")
        }
        guard status.mode & 0o022 == 0 else { throw .memoryUnusable("others can write to \(location)") }
    }

    func translated<Result: ~Copyable>(
        _ call: @autoclosure () throws(SystemError) -> Result, at location: String
    ) throws(Notice) -> Result {
        do { return try call() } catch { throw unusable(location, error) }
    }

    func unusable(_ location: String, _ error: SystemError) -> Notice {
        switch error.number {
        case EISDIR: .memoryUnusable("\(location) is a folder")
        case ELOOP: .memoryUnusable("\(location) is a symbolic link")
        case EWOULDBLOCK: .memoryUnusable("\(location) is locked by another process")
        default: .memoryUnusable("\(location): \(SystemError.words(for: error.number))")
        }
    }
}
