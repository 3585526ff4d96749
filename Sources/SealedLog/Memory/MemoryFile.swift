private import Glibc
import LinuxSystem

/// A file of the memory, which stays open from its first use on: a set looks at one before and after its record.
final class MemoryFile: Sendable {
    private final class Opened: Sendable {
        let file: TrustworthyFile
        /// Why it cannot be written.
        let refusal: SystemError?
        /// A child process shares its parent's lock.
        let process = getpid()

        init(_ file: consuming TrustworthyFile, _ refusal: SystemError? = nil) {
            self.file = file
            self.refusal = refusal
        }
    }

    private let folder: MemoryFolder
    private let location: String
    private let kept = Mutex<Opened?>(nil)
    private var fileSystem: any FileSystem { folder.fileSystem }

    init(_ name: String, in folder: MemoryFolder) {
        self.folder = folder
        location = folder.location(of: name)
    }

    /// As ``MemoryFolder/read(_:size:report:)``.
    func read(_ size: Int, report: (Notice) -> Void) -> [UInt8]? {
        do throws(Notice) {
            guard let opened = try kept.withLock({ (kept) throws(Notice) in try open(&kept) }) else { return nil }
            let bytes = try folder.translated(contents(of: opened.file.descriptor, size), at: location)
            if let refusal = opened.refusal { report(folder.unusable(location, refusal)) }
            return bytes
        } catch {
            report(error)
            return nil
        }
    }

    /// Writes what `change` makes of the file's present bytes, while no other process or thread writes it; nothing for
    /// nil. If the folder cannot be created, nothing is remembered.
    func update(_ size: Int, _ change: ([UInt8]) -> [UInt8]?) throws(Notice) {
        try kept.withLock { (kept) throws(Notice) in
            guard let opened = try openForWriting(&kept) else { return }
            do throws(SystemError) {
                // Another process that writes the file needs much less.
                try fileSystem.lock(opened.file.descriptor, .exclusive, until: Deadline(after: .seconds(1)))
                defer { fileSystem.unlock(opened.file.descriptor) }
                guard let bytes = change(try contents(of: opened.file.descriptor, size)) else { return }
                try bytes.withRawBytes { (bytes) throws(SystemError) in
                    try fileSystem.write(opened.file.descriptor, bytes, at: 0)
                }
            } catch { throw folder.unusable(location, error) }
        }
    }

    private func contents(of file: borrowing FileDescriptor, _ size: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        let count = try bytes.withMutableRawBytes { (bytes) throws(SystemError) in
            try fileSystem.read(file, into: bytes, at: 0)
        }
        return Array(bytes[..<count])
    }

    // MARK: Opening

    /// Returns the open file, if the path still leads to it; otherwise opens it. nil if there is none.
    private func open(_ kept: inout Opened?) throws(Notice) -> Opened? {
        if let opened = kept {
            // Its folder need not be looked at again: who could move this file away cannot write another of this
            // user's.
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
