private import CLinux
private import Glibc

/// Calls a closure whenever a file may have changed, from a thread of its own, until this object is released.
///
/// Also when the file, or its folder, is replaced, removed or created. The thread ends by itself soon after the
/// release. Joining it would wait for the kernel, which takes milliseconds to close inotify's descriptor.
package final class FileWatch: Sendable {
    package static let threadName = "vault-watch"

    private let loop: WatchLoop

    /// - Parameter onChange: called once at the beginning too, for changes made before the watch was set up.
    /// - Throws: if no thread can be started.
    package init(
        _ path: String, in fileSystem: any FileSystem, onChange: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        loop = WatchLoop(path, fileSystem, onChange)
        try DetachedThread.start(named: FileWatch.threadName, loop.run)
    }

    deinit { loop.stop() }
}

/// What the thread of a ``FileWatch`` does.
private final class WatchLoop: Sendable {
    /// The interval in milliseconds for a file whose changes the system does not report, or without a stop event.
    private static let pause: Int32 = 1_000

    private let path: String
    private let fileSystem: any FileSystem
    private let onChange: @Sendable () -> Void
    private let isStopped = Mutex(false)
    /// Readable once the loop shall stop; -1, which poll(2) passes over, if there is no descriptor to be had.
    private let stopEvent = FileDescriptor(owning: vault_event_descriptor())

    init(_ path: String, _ fileSystem: any FileSystem, _ onChange: @escaping @Sendable () -> Void) {
        (self.path, self.fileSystem, self.onChange) = (path, fileSystem, onChange)
    }

    func stop() {
        isStopped.withLock { $0 = true }
        var one: UInt64 = 1
        _ = write(stopEvent.number, &one, MemoryLayout.size(ofValue: one))
    }

    func run() {
        while !isStopped.withLock({ $0 }) {
            // The limits on inotify apply to all processes of a user. Without inotify the file is polled.
            guard !isRemote, let events = try? FileEvents(of: path) else { return pollFile() }
            onChange()
            follow(events)
        }
    }

    /// Whether other machines may change the file: inotify does not report that.
    private var isRemote: Bool {
        for folder in path.foldersAbove {
            if let folder = try? fileSystem.open(folder, .folder) { return fileSystem.volume(of: folder).isRemote }
        }
        return false
    }

    /// Returns when the folders have changed and must be looked up again, or at the end.
    private func follow(_ events: borrowing FileEvents) {
        while wait(for: events.queue.number, stopEvent.number < 0 ? WatchLoop.pause : -1) {
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
            // Again a round later: the times of a file are too coarse to tell two changes in quick succession apart.
            if status != former || hasChanged { onChange() }
            hasChanged = status != former
            former = status
        } while wait(for: -1, WatchLoop.pause)
    }

    /// Waits until a descriptor is readable or the time is up. Returns false if the loop shall stop.
    private func wait(for descriptor: Int32, _ milliseconds: Int32) -> Bool {
        var descriptors = [stopEvent.number, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // If the system has no memory for that, rather late than without a pause.
        if poll(&descriptors, nfds_t(descriptors.count), milliseconds) < 0, errno != EINTR {
            Clock.sleep(microseconds: 100_000)
        }
        return !isStopped.withLock { $0 }
    }
}
