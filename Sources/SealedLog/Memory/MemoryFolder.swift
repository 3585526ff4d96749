private import Glibc
import LinuxSystem
import Sealing

/// A problem that did not keep an operation from succeeding, and that the user should know.
package enum Notice: Hashable, Sendable {
    /// A part of the rollback memory exists and cannot be used: which one, and why.
    case memoryUnusable(String)
    /// A compaction that was due has failed: dead bytes stay in the file.
    case compactionFailed(LogError)

    fileprivate var isOfMemory: Bool {
        if case .memoryUnusable = self { true } else { false }
    }
}

/// Gathers notices until they can be told: no outside code is called while a lock is held.
final class NoticeBoard: Sendable {
    private struct State {
        var pending: [Notice] = []
        var posted: Set<Notice> = []
    }

    private let state = Mutex(State())

    /// Adds a notice, unless it was posted here before.
    func post(_ notice: Notice) {
        state.withLock { state in
            if state.posted.insert(notice).inserted { state.pending.append(notice) }
        }
    }

    /// Returns what has been posted since the last time. Of the parts of a memory that cannot be used, the first is
    /// enough.
    func take() -> [Notice] {
        let pending = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        let firstOfMemory = pending.firstIndex(where: \.isOfMemory)
        return pending.indices.filter { $0 == firstOfMemory || !pending[$0].isOfMemory }.map { pending[$0] }
    }
}

/// The folder in which this machine remembers vaults. Its small files are read whole, and written in place under a
/// lock.
///
/// A file counts only if no other user can have written it, and no link is followed out of the folder: what is opened
/// is checked, as a key file is.
struct MemoryFolder: Sendable {
    /// Why a part of the memory that exists cannot be used.
    struct Unusable: Error {
        /// A part of a sentence, with the path.
        let reason: String
    }

    let path: String
    let fileSystem: any FileSystem

    /// The largest file, in bytes.
    private static let fileSize = 256
    /// How long to wait for another process that writes a file. It needs much less.
    private static let patience: Duration = .seconds(1)

    /// Returns the bytes of a file, and why it cannot be written; nil if there is none.
    func read(_ name: String) throws(Unusable) -> (bytes: [UInt8], refusal: Unusable?)? {
        guard try folderStatus() != nil else { return nil }
        var refusal: SystemError?
        let file: FileDescriptor
        do throws(SystemError) {
            file = try fileSystem.open(
                location(of: name), .readWriteNoFollow, orElse: .readNoFollow, refusal: &refusal)
        } catch {
            guard !error.isMissing else { return nil }
            throw unusable(location(of: name), error)
        }
        _ = try checkedStatus(of: file, name)
        return (try contents(of: file, name), refusal.map { unusable(location(of: name), $0) })
    }

    /// Writes a file if `isNeeded` says so of its present bytes, while no other process writes it. If the folder cannot
    /// be created, nothing is remembered.
    func update(
        _ name: String, to bytes: [UInt8], isNeeded: ([UInt8]) -> Bool = { _ in true }
    ) throws(Unusable) {
        let folder = try folderStatus()
        if folder == nil, (try? fileSystem.makeFolders(path)) == nil { return }
        let file = try openForUpdate(name)
        let status = try checkedStatus(of: file, name)
        do throws(SystemError) {
            // A file that root creates in a user's folder must remain the user's.
            if let folder, folder.owner != status.owner, geteuid() == 0 {
                try fileSystem.setOwner(file, owner: folder.owner, group: folder.group)
            }
            try fileSystem.lock(file, .exclusive, until: Deadline(after: MemoryFolder.patience))
        } catch { throw unusable(location(of: name), error) }
        guard isNeeded(try contents(of: file, name)) else { return }
        do throws(SystemError) {
            try bytes.withRawBytes { (bytes) throws(SystemError) in try fileSystem.write(file, bytes, at: 0) }
        } catch { throw unusable(location(of: name), error) }
    }

    private func openForUpdate(_ name: String) throws(Unusable) -> FileDescriptor {
        do { return try fileSystem.open(location(of: name), .readWriteOrCreateNoFollow) } catch {
            throw unusable(location(of: name), error)
        }
    }

    /// Removes a file, if it exists.
    func remove(_ name: String) {
        try? fileSystem.remove(location(of: name))
    }

    private func location(of name: String) -> String { "\(path)/\(name)" }

    private func contents(of file: borrowing FileDescriptor, _ name: String) throws(Unusable) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: MemoryFolder.fileSize)
        do throws(SystemError) {
            let count = try bytes.withMutableRawBytes { (bytes) throws(SystemError) in
                try fileSystem.read(file, into: bytes, at: 0)
            }
            return Array(bytes[..<count])
        } catch { throw unusable(location(of: name), error) }
    }

    // MARK: Checks

    /// Checks the folder; nil if there is none.
    private func folderStatus() throws(Unusable) -> FileStatus? {
        let status: FileStatus
        do { status = try fileSystem.status(at: path) } catch {
            guard !error.isMissing, error.number != ENOTDIR else { return nil }
            throw unusable(path, error)
        }
        guard status.isDirectory else { throw Unusable(reason: "\(path) is no folder") }
        try checkOwner(of: path, status)
        return status
    }

    private func checkedStatus(of file: borrowing FileDescriptor, _ name: String) throws(Unusable) -> FileStatus {
        let location = location(of: name)
        let status: FileStatus
        do { status = try fileSystem.status(of: file) } catch { throw unusable(location, error) }
        guard status.isRegularFile else { throw Unusable(reason: "\(location) is \(status.kind)") }
        // The other name could be that of a file that an attacker wants overwritten.
        guard status.links <= 1 else { throw Unusable(reason: "\(location) has another name, a hard link") }
        try checkOwner(of: location, status)
        return status
    }

    private func checkOwner(of location: String, _ status: FileStatus) throws(Unusable) {
        let user = geteuid()
        guard status.owner == user || status.owner == 0 || user == 0 else {
            throw Unusable(reason: "\(location) belongs to another user")
        }
        guard status.mode & 0o022 == 0 else { throw Unusable(reason: "others can write to \(location)") }
    }

    private func unusable(_ location: String, _ error: SystemError) -> Unusable {
        switch error.number {
        case EISDIR: Unusable(reason: "\(location) is a folder")
        case ELOOP: Unusable(reason: "\(location) is a symbolic link")
        case EWOULDBLOCK: Unusable(reason: "\(location) is locked by another process")
        default: Unusable(reason: "\(location): \(SystemError.words(for: error.number))")
        }
    }
}
