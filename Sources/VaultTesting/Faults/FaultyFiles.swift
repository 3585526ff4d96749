/// Files whose calls fail on demand, for the stores of a test: <doc:IsolatedTests> has an example.
public final class FaultyFiles: Sendable {
    /// What a call does.
    public enum Operation: Hashable, Sendable, CaseIterable {
        /// Opening a file or a folder, and creating a file.
        case open
        /// Reading bytes of an open file.
        case read
        /// Writing bytes to an open file.
        case write
        /// Making written bytes durable: fsync(2), fdatasync(2).
        case flush
        /// Taking a lock between processes.
        case lock
        /// Reading a file's size, times and mode.
        case status
        /// Changing a file's mode or owner.
        case permissions
        /// Renaming a file, as replacing one does.
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

    /// Creates files of which no call fails yet.
    public init() {}

    /// Lets calls fail; they are not made.
    ///
    /// - Parameters:
    ///   - operation: which calls.
    ///   - systemError: the `errno` that they fail with: `ENOSPC`, `EIO`.
    ///   - skipped: how many calls succeed first.
    ///   - times: how many calls fail then.
    public func fail(_ operation: Operation, with systemError: Int32, after skipped: Int = 0, times: Int = 1) {
        fileSystem.fail(operation.calls, after: skipped, times: times, with: .error(systemError))
    }

    /// Cancels all planned failures.
    public func heal() { fileSystem.heal() }

    /// How many calls have failed on demand.
    public var failures: Int { fileSystem.failures }
}
