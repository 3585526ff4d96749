private import Glibc

/// What the kernel tells, through inotify, of a file and of the folders above it.
///
/// Files are replaced by renaming, so it is their folder that is watched, and names are compared. Where the folder is
/// not there, the nearest one above it is watched for the folder's coming.
struct FileEvents: ~Copyable {
    enum Outcome {
        case nothing
        case changed
        /// A folder above the file came, went or was renamed, or that could not be told: begin anew.
        case foldersChanged
    }

    /// Readable while there are events.
    let queue: FileDescriptor
    /// In the folder that is watched: the file, or the first folder on the way to it that is missing.
    private let awaitedName: String
    private let isFileAwaited: Bool

    private static let names = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
    // Not IN_CLOSE_WRITE: reading opens the file for writing too, and would be a change that is read again, and so on.
    private static let contents = IN_MODIFY | IN_ATTRIB
    private static let folderItself = IN_DELETE_SELF | IN_MOVE_SELF
    private static let unsure = folderItself | IN_UNMOUNT | IN_IGNORED | IN_Q_OVERFLOW

    /// - Throws: if a limit of the system is reached, or a folder may not be read.
    init(of path: String) throws(SystemError) {
        let queue = try FileEvents.makeQueue()
        let nearest = try FileEvents.watchNearestFolder(to: path, queue)
        // A folder is not told when one above it is renamed.
        for folder in nearest.folder.foldersAbove {
            _ = try? FileEvents.watch(folder, FileEvents.folderItself | IN_MASK_ADD, queue)
        }
        self.queue = queue
        awaitedName = nearest.awaitedName
        isFileAwaited = nearest.folder == path.parentFolder
    }

    private static func makeQueue() throws(SystemError) -> FileDescriptor {
        let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { throw SystemError(errno, "watch") }
        return FileDescriptor(owning: number)
    }

    private static func watchNearestFolder(
        to path: String, _ queue: borrowing FileDescriptor
    ) throws(SystemError) -> (folder: String, awaitedName: String) {
        var (folder, awaited) = (path.parentFolder, path)
        while true {
            if try watch(folder, names | contents | folderItself, queue) {
                // What was missing may have come before there was a watch that would tell it.
                guard folder != path.parentFolder, isFolder(awaited) else { return (folder, awaited.lastPathComponent) }
                (folder, awaited) = (path.parentFolder, path)
            } else {
                guard folder.parentFolder != folder else { throw SystemError(ENOENT, "watch") }
                (folder, awaited) = (folder.parentFolder, folder)
            }
        }
    }

    private static func isFolder(_ path: String) -> Bool {
        (try? PosixFileSystem().status(at: path))?.isDirectory ?? false
    }

    /// - Returns: false if there is no such folder.
    private static func watch(
        _ folder: String, _ events: Int32, _ queue: borrowing FileDescriptor
    ) throws(SystemError) -> Bool {
        guard inotify_add_watch(queue.number, folder, UInt32(events | IN_ONLYDIR)) < 0 else { return true }
        guard errno == ENOENT || errno == ENOTDIR else { throw SystemError(errno, "watch") }
        return false
    }

    /// Takes events from the queue, and tells what they come to.
    func take() -> Outcome {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
            let count = read(queue.number, buffer.baseAddress, buffer.count)
            guard count > 0 else { return .nothing }
            return outcome(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    private func outcome(_ events: UnsafeRawBufferPointer) -> Outcome {
        let headSize = MemoryLayout<inotify_event>.size
        var outcome = Outcome.nothing
        var rest = events[...]
        while rest.count >= headSize {
            let head = UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(as: inotify_event.self)
            let name = rest.dropFirst(headSize).prefix(Int(head.len)).prefix { $0 != 0 }
            if head.mask & UInt32(FileEvents.unsure) != 0 { return .foldersChanged }
            if name.elementsEqual(awaitedName.utf8) {
                guard isFileAwaited else { return .foldersChanged }
                outcome = .changed
            }
            rest = rest.dropFirst(headSize + Int(head.len))
        }
        return outcome
    }
}

extension String {
    /// From the nearest to the root.
    fileprivate var foldersAbove: [String] {
        var folders: [String] = []
        var folder = self
        while folder.parentFolder != folder {
            folder = folder.parentFolder
            folders.append(folder)
        }
        return folders
    }
}
