private import Glibc
import LinuxSystem
import Sealing

/// The folder in which this machine remembers vaults. Its small files are read whole, and written in place under a
/// lock.
///
/// A file counts only if no other user can have written it, and no link is followed out of the folder: what is opened
/// is checked, as a key file is. A part that exists and cannot be used is an error.
struct MemoryFolder: Sendable {
    let path: String
    let fileSystem: any FileSystem

    /// Returns the bytes of a file; nil if there is none. Reports a file that exists and cannot be read or written.
    func read(_ name: String, report: (Notice) -> Void) -> [UInt8]? {
        do throws(Notice) {
            guard try folderStatus() != nil else { return nil }
            let location = location(of: name)
            var refusal: SystemError?
            let opened = try translated(
                unlessMissing(fileSystem.open(location, .readWriteNoFollow, orElse: .readNoFollow, refusal: &refusal)),
                at: location)
            guard let file = opened else { return nil }
            _ = try checkedStatus(of: file, location)
            let bytes = try translated(contents(of: file), at: location)
            if let refusal { report(unusable(location, refusal)) }
            return bytes
        } catch {
            report(error)
            return nil
        }
    }

    /// Writes a file if `isNeeded` says so of its present bytes, while no other process writes it. If the folder cannot
    /// be created, nothing is remembered.
    func update(_ name: String, to bytes: [UInt8], isNeeded: ([UInt8]) -> Bool) throws(Notice) {
        let folder = try folderStatus()
        if folder == nil, (try? fileSystem.makeFolders(path)) == nil { return }
        let location = location(of: name)
        let file = try translated(fileSystem.open(location, .readWriteOrCreateNoFollow), at: location)
        let status = try checkedStatus(of: file, location)
        do throws(SystemError) {
            // A file that root creates in a user's folder must remain the user's.
            if let folder, folder.owner != status.owner, geteuid() == 0 {
                try fileSystem.setOwner(file, owner: folder.owner, group: folder.group)
            }
            // Another process that writes the file needs much less.
            try fileSystem.lock(file, .exclusive, until: Deadline(after: .seconds(1)))
            guard isNeeded(try contents(of: file)) else { return }
            try bytes.withRawBytes { (bytes) throws(SystemError) in try fileSystem.write(file, bytes, at: 0) }
        } catch { throw unusable(location, error) }
    }

    func remove(_ name: String) { try? fileSystem.remove(location(of: name)) }

    private func location(of name: String) -> String { "\(path)/\(name)" }

    private func contents(of file: borrowing FileDescriptor) throws(SystemError) -> [UInt8] {
        // More than any of them takes.
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = try bytes.withMutableRawBytes { (bytes) throws(SystemError) in
            try fileSystem.read(file, into: bytes, at: 0)
        }
        return Array(bytes[..<count])
    }

    // MARK: Checks

    /// nil if there is no folder.
    private func folderStatus() throws(Notice) -> FileStatus? {
        let status: FileStatus
        do { status = try fileSystem.status(at: path) } catch {
            guard !error.isMissing, error.number != ENOTDIR else { return nil }
            throw unusable(path, error)
        }
        guard status.isDirectory else { throw .memoryUnusable("\(path) is no folder") }
        try checkOwner(of: path, status)
        return status
    }

    private func checkedStatus(of file: borrowing FileDescriptor, _ location: String) throws(Notice) -> FileStatus {
        let status = try translated(fileSystem.status(of: file), at: location)
        guard status.isRegularFile else { throw .memoryUnusable("\(location) is \(status.kind)") }
        // The other name could be that of a file that an attacker wants overwritten.
        guard status.links <= 1 else { throw .memoryUnusable("\(location) has another name, a hard link") }
        try checkOwner(of: location, status)
        return status
    }

    private func checkOwner(of location: String, _ status: FileStatus) throws(Notice) {
        guard status.isOwnedHere else {
            throw .memoryUnusable("\(location) belongs to another user")
        }
        guard status.mode & 0o022 == 0 else { throw .memoryUnusable("others can write to \(location)") }
    }

    private func translated<Result: ~Copyable>(
        _ call: @autoclosure () throws(SystemError) -> Result, at location: String
    ) throws(Notice) -> Result {
        do { return try call() } catch { throw unusable(location, error) }
    }

    private func unusable(_ location: String, _ error: SystemError) -> Notice {
        switch error.number {
        case EISDIR: .memoryUnusable("\(location) is a folder")
        case ELOOP: .memoryUnusable("\(location) is a symbolic link")
        case EWOULDBLOCK: .memoryUnusable("\(location) is locked by another process")
        default: .memoryUnusable("\(location): \(SystemError.words(for: error.number))")
        }
    }
}
