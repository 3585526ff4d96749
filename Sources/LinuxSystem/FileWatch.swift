private import Glibc

/// A watch that calls a closure on a separate thread whenever a file may have changed, until this object is released.
///
/// Replacing, removing or creating the file or its folder also counts as a change. The thread ends soon after the
/// release. It is not joined, because the kernel needs milliseconds to close inotify's descriptor.
package final class FileWatch: Sendable {
    package static let threadName = "vault-watch"

    private let loop: WatchLoop

    /// Starts the watch, and calls `onChange` once, in case of an earlier change. Throws if no thread can be started.
    package init(
        _ path: String, in fileSystem: any FileSystem, onChange: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        loop = WatchLoop(path, fileSystem, onChange)
        try startDetachedThread(named: FileWatch.threadName, loop.run)
    }

    deinit { loop.stop() }
}

private final class WatchLoop: Sendable {
    /// The polling interval in milliseconds, used if inotify cannot watch the file or there is no stop event.
    private static let pause: Int32 = 1_000

    private let path: String
    private let fileSystem: any FileSystem
    private let onChange: @Sendable () -> Void
    private let stopEvent = StopEvent()

    init(_ path: String, _ fileSystem: any FileSystem, _ onChange: @escaping @Sendable () -> Void) {
        self.path = path
        self.fileSystem = fileSystem
        self.onChange = onChange
    }

    func stop() { stopEvent.signal() }

    func run() {
        while !stopEvent.isSignalled {
            // The user's other processes may have exhausted inotify's limits. If so, this thread polls the file.
            guard !isRemote, let events = try? FileEvents(of: path) else { return pollFile() }
            onChange()
            follow(events)
        }
    }

    /// Whether other machines can change the file, in which case inotify would not report their changes.
    private var isRemote: Bool {
        for folder in path.foldersAbove {
            if let folder = try? fileSystem.open(folder, .folder) { return fileSystem.volume(of: folder).isRemote }
        }
        return false
    }

    /// Handles events until the watched folders change and must be opened again, or until the watch ends.
    private func follow(_ events: borrowing FileEvents) {
        let pause = stopEvent.descriptor < 0 ? WatchLoop.pause : -1
        while stopEvent.wait(for: events.queue.number, milliseconds: pause) {
            switch events.take() {
            case .nothing: continue
            case .changed: onChange()
            case .foldersChanged: return
            }
        }
    }

    private func pollFile() {
        var former = try? fileSystem.status(at: path)
        var hasChanged = true
        repeat {
            let status = try? fileSystem.status(at: path)
            // After a change, the closure is also called at the next check, because file timestamps are too coarse to
            // tell apart two changes in quick succession.
            if status != former || hasChanged { onChange() }
            hasChanged = status != former
            former = status
        } while stopEvent.wait(milliseconds: WatchLoop.pause)
    }
}

/// The inotify events of a file and of the folders above it.
///
/// Files are replaced by renaming, so the folder is watched and names are compared. If the folder is missing, its
/// nearest existing parent is watched until the next folder appears.
struct FileEvents: ~Copyable {
    enum Outcome {
        case nothing
        case changed
        /// A folder above the file appeared, disappeared or was renamed, or events were lost. The watch starts over.
        case foldersChanged
    }

    /// The inotify descriptor, which is readable while there are events.
    let queue: FileDescriptor
    private let awaitedName: String
    private let isFileAwaited: Bool

    // The events that change names or contents. IN_CLOSE_WRITE is excluded, because the vault opens the file for
    // writing even when it only reads, so each read would be reported as a change.
    private static let changes = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MODIFY | IN_ATTRIB
    private static let folderItself = IN_DELETE_SELF | IN_MOVE_SELF
    private static let unsure = folderItself | IN_UNMOUNT | IN_IGNORED | IN_Q_OVERFLOW

    /// - Throws: ``SystemError`` if a system limit is reached, or a folder is not readable.
    init(of path: String) throws(SystemError) {
        queue = FileDescriptor(owning: inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)))
        guard queue.number >= 0 else { throw SystemError(errno, "watch") }
        let awaited = try FileEvents.watchNearestFolder(to: path, queue)
        // A folder's watch does not report that a folder above it was renamed, so the folders above it are watched too.
        for folder in awaited.parentFolder.foldersAbove {
            _ = try? FileEvents.watch(folder, FileEvents.folderItself | IN_MASK_ADD, queue)
        }
        awaitedName = awaited.lastPathComponent
        isFileAwaited = awaited == path
    }

    /// Watches the nearest existing folder. Returns the path that is expected to appear in it: the path of the file or
    /// of the first missing folder.
    private static func watchNearestFolder(
        to path: String, _ queue: borrowing FileDescriptor
    ) throws(SystemError) -> String {
        var awaited = path
        while true {
            let folder = awaited.parentFolder
            if try watch(folder, changes | folderItself, queue) {
                // The missing folder may have been created before the watch began.
                guard awaited != path, (try? PosixFileSystem().status(at: awaited))?.isDirectory == true
                else { return awaited }
                awaited = path
            } else {
                guard folder.parentFolder != folder else { throw SystemError(ENOENT, "watch") }
                awaited = folder
            }
        }
    }

    /// - Returns: false if the folder does not exist.
    private static func watch(
        _ folder: String, _ events: Int32, _ queue: borrowing FileDescriptor
    ) throws(SystemError) -> Bool {
        guard inotify_add_watch(queue.number, folder, UInt32(events | IN_ONLYDIR)) < 0 else { return true }
        guard errno == ENOENT || errno == ENOTDIR else { throw SystemError(errno, "watch") }
        return false
    }

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
