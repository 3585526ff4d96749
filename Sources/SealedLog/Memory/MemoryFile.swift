private import Glibc
import LinuxSystem

/// A file of the rollback memory. It stays open after its first use, since setting a value reads it repeatedly.
final class MemoryFile: Sendable {
    private final class Opened: Sendable {
        let file: TrustworthyFile
        /// The reason why the file cannot be written; nil if it is writable.
        let refusal: SystemError?
        /// The process that opened the file. A forked child shares its parent's lock, so it must open the file again.
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

    /// Reads the first `size` bytes, like ``MemoryFolder/read(_:size:report:)``.
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

    /// Replaces the file's bytes with the result of `change`, unless that is nil. No other process or thread can write
    /// the file meanwhile. Does nothing if the folder cannot be created.
    func update(_ size: Int, _ change: ([UInt8]) -> [UInt8]?) throws(Notice) {
        try kept.withLock { (kept) throws(Notice) in
            guard let opened = try openForWriting(&kept) else { return }
            do throws(SystemError) {
                // Other processes hold this file's lock for much less than a second.
                try fileSystem.lock(opened.file.descriptor, .exclusive, until: Deadline(after: .seconds(1)))
                defer { fileSystem.unlock(opened.file.descriptor) }
                guard let bytes = change(try fileSystem.read(opened.file.descriptor, upTo: size)) else { return }
                try bytes.withRawBytes { (bytes) throws(SystemError) in
                    try fileSystem.write(opened.file.descriptor, bytes, at: 0)
                }
            } catch { throw folder.unusable(location, error) }
        }
    }

    // MARK: Opening

    /// Returns the open file if it is still at the path. Otherwise opens the file at the path; nil if there is none.
    private func open(_ kept: inout Opened?) throws(Notice) -> Opened? {
        if let opened = kept {
            // The folder need not be checked again. Another user who can move this file away still cannot create one
            // that belongs to this user.
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
