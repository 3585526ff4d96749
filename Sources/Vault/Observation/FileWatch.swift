import SealedLog

/// Calls a closure whenever a file may have changed, from a thread of its own, until the value goes.
///
/// Also when it is replaced, removed or made, and its folder with it. The thread ends by itself, soon after the value
/// has gone: to wait for it would be to wait for the kernel, which takes milliseconds to close inotify's descriptor.
final class FileWatch: Sendable {
    private let stop = StopSignal()

    /// - Parameter onChange: called once at the beginning, for what happened before all was in place.
    /// - Throws: if there is no thread to be had.
    init(
        _ path: String, in fileSystem: any FileSystem, onChange: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let loop = WatchLoop(path: path, fileSystem: fileSystem, stop: stop, onChange: onChange)
        try DetachedThread.start(named: FileWatch.threadName, loop.run)
    }

    static let threadName = "vault-watch"

    deinit {
        stop.send()
    }
}

/// What the thread of a ``FileWatch`` does.
private struct WatchLoop: Sendable {
    /// How often, in milliseconds, a file is looked at whose changes the system does not tell.
    private static let pollingInterval: Int32 = 1_000

    let path: String
    let fileSystem: any FileSystem
    let stop: StopSignal
    let onChange: @Sendable () -> Void

    func run() {
        while !stop.isSent {
            // The limits on inotify are the user's, for all their processes; without it there is still the file to look
            // at.
            guard !isRemote, let events = try? FileEvents(of: path) else { return poll() }
            onChange()
            follow(events)
        }
    }

    /// Whether other machines may change the file, of which inotify knows nothing.
    private var isRemote: Bool {
        var folder = path.parentFolder
        while true {
            do { return fileSystem.volume(of: try fileSystem.open(folder, .folder)).isRemote } catch {
                guard folder.parentFolder != folder else { return false }
                folder = folder.parentFolder
            }
        }
    }

    /// Returns when the folders have changed, and are to be looked up anew, or at the end.
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
            // Once more a round later: the times in a status are too coarse to tell two changes right after each other.
            if status != former || hasChanged { onChange() }
            hasChanged = status != former
            former = status
        } while stop.wait(milliseconds: WatchLoop.pollingInterval)
    }
}
