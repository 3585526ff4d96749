/// The files of a test's stores, with calls that fail on demand. <doc:IsolatedTests> has an example.
public final class FaultyFiles: Sendable {
    /// A kind of file system call.
    public enum Operation: Hashable, Sendable, CaseIterable {
        /// Opening a file or a folder, or creating a file.
        case open
        /// Reading bytes from an open file.
        case read
        /// Writing bytes to an open file.
        case write
        /// Making written bytes durable with fsync(2), fdatasync(2) or syncfs(2).
        case flush
        /// Acquiring a lock that excludes other processes.
        case lock
        /// Reading a file's size, times and mode.
        case status
        /// Changing a file's mode or owner.
        case permissions
        /// Renaming a file, which may replace another file.
        case rename
        /// Removing a file.
        case remove
        /// Creating a folder.
        case makeFolder

        fileprivate var calls: Set<FileCall> {
            switch self {
            case .open: [.open]
            case .read: [.read]
            case .write: [.write]
            case .flush: [.synchronize, .synchronizeData]
            case .lock: [.lock]
            case .status: [.status]
            case .permissions: [.setMode, .setOwner]
            case .rename: [.rename]
            case .remove: [.remove]
            case .makeFolder: [.makeFolder]
            }
        }
    }

    let fileSystem = FaultyFileSystem()

    /// Creates files whose calls all succeed until ``fail(_:with:after:times:)`` is called.
    public init() {}

    /// Makes calls fail without any effect.
    ///
    /// - Parameters:
    ///   - operation: the kind of call.
    ///   - systemError: the `errno` with which the calls fail, such as `ENOSPC` or `EIO`.
    ///   - skipped: the number of calls that succeed first.
    ///   - times: the number of calls that then fail.
    public func fail(_ operation: Operation, with systemError: Int32, after skipped: Int = 0, times: Int = 1) {
        fileSystem.fail(operation.calls, after: skipped, times: times, with: .error(systemError))
    }

    /// Cancels all planned failures.
    public func heal() { fileSystem.heal() }

    /// The number of calls that have failed because of ``fail(_:with:after:times:)``.
    public var failures: Int { fileSystem.failures }
}
