private import CLinux
private import Glibc

/// Calls a closure whenever a file may have changed, from a thread of its own, until this object is released.
///
/// Also when the file, or its folder, is replaced, removed or created. The thread ends by itself soon after the
/// release. Joining it would wait for the kernel, which takes milliseconds to close inotify's descriptor.
package final class FileWatch: Sendable {
    private let stop = StopSignal()

    /// - Parameter onChange: called once at the beginning too, for changes made before the watch was set up.
    /// - Throws: if no thread can be started.
    package init(
        _ path: String, in fileSystem: any FileSystem, onChange: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let loop = WatchLoop(path: path, fileSystem: fileSystem, stop: stop, onChange: onChange)
        try DetachedThread.start(named: FileWatch.threadName, loop.run)
    }

    package static let threadName = "vault-watch"

    deinit {
        stop.send()
    }
}

/// What the thread of a ``FileWatch`` does.
private struct WatchLoop: Sendable {
    /// The interval in milliseconds for a file whose changes the system does not report.
    private static let pollingInterval: Int32 = 1_000

    let path: String
    let fileSystem: any FileSystem
    let stop: StopSignal
    let onChange: @Sendable () -> Void

    func run() {
        while !stop.isSent {
            // The limits on inotify apply to all processes of a user. Without inotify the file is polled.
            guard !isRemote, let events = try? FileEvents(of: path) else { return poll() }
            onChange()
            follow(events)
        }
    }

    /// Whether other machines may change the file: inotify does not report that.
    private var isRemote: Bool {
        var folder = path.parentFolder
        while true {
            do { return fileSystem.volume(of: try fileSystem.open(folder, .folder)).isRemote } catch {
                guard folder.parentFolder != folder else { return false }
                folder = folder.parentFolder
            }
        }
    }

    /// Returns when the folders have changed and must be looked up again, or at the end.
    private func follow(_ events: borrowing FileEvents) {
        while stop.wait(for: events.queue) {
            switch events.take() {
            case .nothing: continue
            case .changed: onChange()
            case .foldersChanged: return
            }
        }
    }

    private func poll() {
        var former = try? fileSystem.status(at: path)
        var hasChanged = true
        repeat {
            let status = try? fileSystem.status(at: path)
            // Again a round later: the times of a file are too coarse to tell two changes in quick succession apart.
            if status != former || hasChanged { onChange() }
            hasChanged = status != former
            former = status
        } while stop.wait(milliseconds: WatchLoop.pollingInterval)
    }
}

/// Tells a thread that waits for a descriptor to end.
final class StopSignal: Sendable {
    private let sent = Mutex(false)
    /// Readable once the signal is sent; -1, which the system passes over, if there is no descriptor to be had.
    private let descriptor = FileDescriptor(owning: vault_event_descriptor())
    /// In milliseconds: how long a thread that has no descriptor to be woken by may sleep.
    private static let longestSleep: Int32 = 1_000

    var isSent: Bool { sent.withLock { $0 } }

    func send() {
        sent.withLock { $0 = true }
        var one: UInt64 = 1
        _ = write(descriptor.number, &one, MemoryLayout.size(ofValue: one))
    }

    /// Waits until a descriptor is readable.
    ///
    /// - Returns: false if the signal was sent.
    func wait(for other: borrowing FileDescriptor) -> Bool {
        wait(for: other.number, descriptor.number < 0 ? StopSignal.longestSleep : -1)
    }

    /// Lets some time pass.
    ///
    /// - Returns: false if the signal was sent.
    func wait(milliseconds: Int32) -> Bool {
        wait(for: -1, milliseconds)
    }

    private func wait(for other: Int32, _ milliseconds: Int32) -> Bool {
        var descriptors = [descriptor.number, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Where the system has no memory for that, rather late than without a pause.
        if poll(&descriptors, nfds_t(descriptors.count), milliseconds) < 0, errno != EINTR {
            Clock.sleep(microseconds: 100_000)
        }
        return !isSent
    }
}
