private import Glibc

/// What the kernel tells, through inotify, of a file and of the folders above it.
///
/// Files are replaced by renaming, so their folder is watched and names are compared. If the folder is missing, the
/// nearest one above it is watched until it appears.
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

    // Names and contents. Not IN_CLOSE_WRITE: reading opens the file for writing too, and each reading would be
    // reported as a change.
    private static let changes = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MODIFY | IN_ATTRIB
    private static let folderItself = IN_DELETE_SELF | IN_MOVE_SELF
    private static let unsure = folderItself | IN_UNMOUNT | IN_IGNORED | IN_Q_OVERFLOW

    /// - Throws: if a limit of the system is reached, or a folder may not be read.
    init(of path: String) throws(SystemError) {
        queue = FileDescriptor(owning: inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)))
        guard queue.number >= 0 else { throw SystemError(errno, "watch") }
        let nearest = try FileEvents.watchNearestFolder(to: path, queue)
        // A folder's watch does not report that one above it is renamed.
        for folder in nearest.folder.foldersAbove {
            _ = try? FileEvents.watch(folder, FileEvents.folderItself | IN_MASK_ADD, queue)
        }
        awaitedName = nearest.awaitedName
        isFileAwaited = nearest.folder == path.parentFolder
    }

    private static func watchNearestFolder(
        to path: String, _ queue: borrowing FileDescriptor
    ) throws(SystemError) -> (folder: String, awaitedName: String) {
        var (folder, awaited) = (path.parentFolder, path)
        while true {
            if try watch(folder, changes | folderItself, queue) {
                // What was missing may have come before there was a watch that would tell it.
                guard folder != path.parentFolder, (try? PosixFileSystem().status(at: awaited))?.isDirectory == true
                else { return (folder, awaited.lastPathComponent) }
                (folder, awaited) = (path.parentFolder, path)
            } else {
                guard folder.parentFolder != folder else { throw SystemError(ENOENT, "watch") }
                (folder, awaited) = (folder.parentFolder, folder)
            }
        }
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
            let headSize = MemoryLayout<inotify_event>.size
            var outcome = Outcome.nothing
            let count = read(queue.number, buffer.baseAddress, buffer.count)
            var rest = UnsafeRawBufferPointer(buffer).prefix(max(count, 0))
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
}
