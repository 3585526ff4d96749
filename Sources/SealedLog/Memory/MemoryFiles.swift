private import Glibc
import LinuxSystem
import Sealing

/// The folder of this machine's rollback memory. Its small files are overwritten in place, under a lock.
///
/// A file is used only if it is a ``TrustworthyFile``. Files are opened without following symbolic links. If the folder
/// or a file in it exists but cannot be used, that is an error.
struct MemoryFolder: Sendable {
    let path: String
    let fileSystem: any FileSystem
    /// The first link in the folder's path that another user owns; nil if there is none or this process is not root.
    private let foreignLink: String?

    init(path: String, fileSystem: any FileSystem) {
        self.path = path
        self.fileSystem = fileSystem
        foreignLink = linkOfAnotherUser(in: path)
    }

    /// Returns a file's first `size` bytes; nil if it is missing or unreadable. Reports unreadable and read-only files.
    func read(_ name: String, size: Int, report: (Notice) -> Void) -> [UInt8]? {
        MemoryFile(name, in: self).read(size, report: report)
    }

    /// Removes a file. Does nothing if the folder cannot be used, for example because it is another user's.
    func remove(_ name: String) {
        guard (try? status()) != nil else { return }
        try? fileSystem.remove(location(of: name))
    }

    func location(of name: String) -> String { "\(path)/\(name)" }

    /// Checks the folder's type, path and owner (see ``check(_:_:isForRecords:)``). Returns its status; nil if missing.
    func status(isForRecords: Bool = false) throws(Notice) -> FileStatus? {
        // Even if the link points to root's own folder, the link's owner could redirect it before root writes.
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

    /// Throws if this process runs as root and would create the missing folder inside another user's folder.
    func checkWhereItWouldBe() throws(Notice) {
        guard let other = fileSystem.partOfAnotherUser(above: path) else { return }
        throw .memoryUnusable(Distrust.anotherOwner.reason(of: other))
    }

    /// Checks that `file`, an open file in this folder, can be trusted. Returns it as a ``TrustworthyFile``.
    func trustworthy(_ file: consuming FileDescriptor, _ location: String) throws(Notice) -> TrustworthyFile {
        let opened: TrustworthyFile
        do throws(Distrust) { opened = try TrustworthyFile(file, in: fileSystem) } catch {
            throw .memoryUnusable(error.reason(of: location))
        }
        try checkForm(opened.status, location)
        return opened
    }

    /// Checks a file's type, hard links and owner. If `isForRecords` is true, root may use another user's file, because
    /// the process will only append to it and will not trust its contents.
    func check(_ status: FileStatus, _ location: String, isForRecords: Bool = false) throws(Notice) {
        try checkForm(status, location)
        try checkOwner(of: location, status, isForRecords)
    }

    private func checkForm(_ status: FileStatus, _ location: String) throws(Notice) {
        guard status.isRegularFile else { throw .memoryUnusable("\(location) is \(status.kind)") }
        // An attacker could have created a hard link here to another file, which this process would then overwrite.
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

/// A file of the rollback memory. It stays open after its first use, since setting a value reads it repeatedly.
final class MemoryFile: Sendable {
    private final class Opened: Sendable {
        let file: TrustworthyFile
        /// The reason why the file cannot be written; nil if it is writable.
        let refusal: SystemError?
        /// The process that opened the file. A forked child, which shares the file's lock, must open the file again.
        let process = getpid()

        init(_ file: consuming TrustworthyFile, _ refusal: SystemError? = nil) {
            self.file = file
            self.refusal = refusal
        }
    }

    private let folder: MemoryFolder
    private let location: String
    private let kept = OrderedMutex<Opened?>(.memoryFile, nil)
    private var fileSystem: any FileSystem { folder.fileSystem }

    init(_ name: String, in folder: MemoryFolder) {
        self.folder = folder
        location = folder.location(of: name)
    }

    func read(_ size: Int, report: (Notice) -> Void) -> [UInt8]? {
        do throws(Notice) {
            guard let opened = try kept.withLock({ (kept) throws(Notice) in try open(&kept) }) else { return nil }
            let bytes = try folder.translated(fileSystem.read(opened.file.descriptor, upTo: size), at: location)
            if let refusal = opened.refusal { report(folder.unusable(location, refusal)) }
            return bytes
        } catch {
            report(error)
            return nil
        }
    }

    /// Replaces the file's bytes with the result of `change`, unless the result is nil. During the call, no other
    /// process or thread can write the file. Does nothing if the folder cannot be created.
    func update(_ size: Int, _ change: ([UInt8]) -> [UInt8]?) throws(Notice) {
        try kept.withLock { (kept) throws(Notice) in
            guard let opened = try openForWriting(&kept) else { return }
            do throws(SystemError) {
                // Other processes hold this lock for much less than a second, so waiting for one second is enough.
                try fileSystem.lock(opened.file.descriptor, .exclusive, until: Deadline(after: .seconds(1)))
                defer { fileSystem.unlock(opened.file.descriptor) }
                guard let bytes = change(try fileSystem.read(opened.file.descriptor, upTo: size)) else { return }
                try bytes.withRawBytes { (bytes) throws(SystemError) in
                    try fileSystem.write(opened.file.descriptor, bytes, at: 0)
                }
            } catch { throw folder.unusable(location, error) }
        }
    }

    /// Returns the open file if it is still at the path. Otherwise opens the file now at the path, if any.
    private func open(_ kept: inout Opened?) throws(Notice) -> Opened? {
        if let opened = kept {
            // The folder need not be checked again. Another user might be able to move this file away, but cannot
            // replace it with a file that belongs to this user.
            let status = try folder.translated(unlessMissing(fileSystem.status(at: location)), at: location)
            if let status, status.identity == opened.file.status.identity, opened.process == getpid() {
                try folder.check(status, location)
                return opened
            }
            kept = nil
        }
        guard try folder.status() != nil else { return nil }
        var refusal: SystemError?
        let found = try folder.translated(
            unlessMissing(fileSystem.open(location, .readWriteNoFollow, orElse: .readNoFollow, refusal: &refusal)),
            at: location)
        guard let file = found else { return nil }
        let opened = Opened(try folder.trustworthy(file, location), refusal)
        if refusal == nil { kept = opened }
        return opened
    }

    private func openForWriting(_ kept: inout Opened?) throws(Notice) -> Opened? {
        if let opened = try open(&kept) {
            if let refusal = opened.refusal { throw folder.unusable(location, refusal) }
            return opened
        }
        if try folder.status() == nil {
            try folder.checkWhereItWouldBe()
            guard (try? fileSystem.makeFolders(folder.path)) != nil else { return nil }
        }
        let file = try folder.translated(fileSystem.open(location, .readWriteOrCreateNoFollow), at: location)
        let opened = Opened(try folder.trustworthy(file, location))
        kept = opened
        return opened
    }
}
