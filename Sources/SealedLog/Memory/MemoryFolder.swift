private import Glibc
import LinuxSystem
import Sealing

/// The folder in which this machine remembers vaults. Its small files are written in place under a lock.
///
/// A file counts only if it is a ``TrustworthyFile``. Symbolic links out of the folder are not followed. A file or
/// folder that exists but cannot be used is an error.
struct MemoryFolder: Sendable {
    let path: String
    let fileSystem: any FileSystem
    /// Another user's symbolic link in the path, if this process is root's. It is searched once.
    private let foreignLink: String?

    init(path: String, fileSystem: any FileSystem) {
        self.path = path
        self.fileSystem = fileSystem
        foreignLink = linkOfAnotherUser(in: path)
    }

    /// Returns the first `size` bytes of a file; nil if there is none. Reports one that cannot be read or written.
    func read(_ name: String, size: Int, report: (Notice) -> Void) -> [UInt8]? {
        MemoryFile(name, in: self).read(size, report: report)
    }

    /// Removes a file, unless the folder belongs to another user.
    func remove(_ name: String) {
        guard (try? status()) != nil else { return }
        try? fileSystem.remove(location(of: name))
    }

    func location(of name: String) -> String { "\(path)/\(name)" }

    // MARK: Checks

    /// - Parameter isForRecords: as in ``check(_:_:isForRecords:)``.
    func status(isForRecords: Bool = false) throws(Notice) -> FileStatus? {
        // The target of the link may be root's own folder, but another user would choose what is written into it.
        if let foreignLink { throw .memoryUnusable(Distrust.anotherOwner.reason(of: foreignLink)) }
        let status: FileStatus
        do { status = try fileSystem.status(at: path) } catch {
            guard !error.isMissing, error.number != ENOTDIR else { return nil }
            throw unusable(path, error)
        }
        guard status.isDirectory else { throw .memoryUnusable("\(path) is not a folder") }
        try checkOwner(of: path, status, isForRecords)
        return status
    }

    /// Throws if root would create the missing folder inside another user's folder.
    func checkWhereItWouldBe() throws(Notice) {
        guard let other = fileSystem.partOfAnotherUser(above: path) else { return }
        throw .memoryUnusable(Distrust.anotherOwner.reason(of: other))
    }

    /// Checks that the contents of an opened file of the folder can be trusted.
    func trustworthy(_ file: consuming FileDescriptor, _ location: String) throws(Notice) -> TrustworthyFile {
        let opened: TrustworthyFile
        do throws(Distrust) { opened = try TrustworthyFile(file, in: fileSystem) } catch {
            throw .memoryUnusable(error.reason(of: location))
        }
        try checkForm(opened.status, location)
        return opened
    }

    /// - Parameter isForRecords: whether the file is only appended to, and its contents are not trusted. Root may
    ///   append to a user's file.
    func check(_ status: FileStatus, _ location: String, isForRecords: Bool = false) throws(Notice) {
        try checkForm(status, location)
        try checkOwner(of: location, status, isForRecords)
    }

    private func checkForm(_ status: FileStatus, _ location: String) throws(Notice) {
        guard status.isRegularFile else { throw .memoryUnusable("\(location) is \(status.kind)") }
        // The other name could belong to a file that an attacker wants overwritten.
        guard status.links <= 1 else { throw .memoryUnusable("\(location) has a second hard link") }
    }

    private func checkOwner(of location: String, _ status: FileStatus, _ isForRecords: Bool) throws(Notice) {
        do throws(Distrust) { try status.checkTrustworthy() } catch {
            if isForRecords, error == .anotherOwner, geteuid() == 0, status.mode & 0o022 == 0 { return }
            throw .memoryUnusable(error.reason(of: location))
        }
    }

    func translated<Result: ~Copyable>(
        _ call: @autoclosure () throws(SystemError) -> Result, at location: String
    ) throws(Notice) -> Result { do { return try call() } catch { throw unusable(location, error) } }

    func unusable(_ location: String, _ error: SystemError) -> Notice {
        switch error.number {
        case EISDIR: .memoryUnusable("\(location) is a folder")
        case ELOOP: .memoryUnusable("\(location) is a symbolic link")
        case EWOULDBLOCK: .memoryUnusable("\(location) is locked by another process")
        default: .memoryUnusable("\(location): \(SystemError.message(for: error.number))")
        }
    }
}
