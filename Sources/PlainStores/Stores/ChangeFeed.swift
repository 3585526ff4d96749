private import Glibc
import LinuxSystem

/// A feed that notifies a store's observers that a value may have changed.
///
/// A notice does not identify the changed values, so observers read the store again and compare the values. Changes in
/// quick succession are combined into one notice, and a slow observer still gets the latest state.
public final class ChangeFeed: Sendable {
    private struct State {
        var observers = [Int: AsyncStream<Void>.Continuation]()
        var lastID = 0
        /// The watch for changes by other processes; nil while there is no observer.
        var watch: (any AnyObject & Sendable)?
    }

    private let state = Mutex(State())
    private let watch: Watch

    /// A function that starts to watch for changes by other processes. The watch ends when its result is released.
    package typealias Watch =
        @Sendable (_ notify: @escaping @Sendable () -> Void) throws(VaultError) -> (any AnyObject & Sendable)?

    /// Creates a feed that notices only changes by this process.
    public init() { watch = { _ in nil } }

    /// Creates a feed that also notices changes by other processes, as long as it has an observer.
    package init(_ watch: @escaping Watch) { self.watch = watch }

    /// Creates a feed that also notices changes to a file by other processes.
    ///
    /// - Parameter path: a path without symbolic links. Neither the file nor its folder need exist.
    convenience init(watching path: String, in fileSystem: any FileSystem = PosixFileSystem()) {
        self.init { (notify) throws(VaultError) in
            do throws(SystemError) { return try FileWatch(path, in: fileSystem, onChange: notify) } catch {
                throw VaultError(system: error, path)
            }
        }
    }

    /// Notifies the observers that a value may have changed. This is cheap if there are none.
    public func notify() {
        let observers = state.withLock { Array($0.observers.values) }
        for observer in observers { observer.yield() }
    }

    /// Returns a stream of notices. Several notices are combined until the observer takes the next element. Every
    /// change after this call causes a notice. Soon after the call, a notice may arrive even if nothing has changed.
    ///
    /// - Throws: ``VaultError/Code/unavailable`` if the thread that watches the file cannot be started.
    public func notices() throws(VaultError) -> AsyncStream<Void> { try ChangeFeed.notices(of: [self]) }

    static func notices(of feeds: [ChangeFeed]) throws(VaultError) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        do throws(VaultError) {
            for feed in feeds { try feed.add(continuation) }
        } catch {
            continuation.finish()
            throw error
        }
        return stream
    }

    /// Adds an observer, and removes it when its stream ends.
    private func add(_ observer: AsyncStream<Void>.Continuation) throws(VaultError) {
        let id = try state.withLock { (state) throws(VaultError) in
            if state.watch == nil { state.watch = try watch { [weak self] in self?.notify() } }
            state.lastID += 1
            state.observers[state.lastID] = observer
            return state.lastID
        }
        let removeFromOthers = observer.onTermination
        observer.onTermination = { [weak self] termination in
            removeFromOthers?(termination)
            // The removed continuation is released outside the lock, since its release may run arbitrary code.
            _ = self?.state.withLock { state in
                (state.observers.removeValue(forKey: id), state.observers.isEmpty ? state.watch.take() : nil)
            }
        }
    }

    package var observerCount: Int { state.withLock { $0.observers.count } }
}

/// A log of the errors that the getter and setter of ``ValueKey/value`` cannot throw.
///
/// It stores each error as ``lastError`` and calls the handler. The default handler writes a line to standard error.
public final class FailureLog: Sendable {
    /// - Parameters:
    ///   - error: the failure, which contains no secret.
    ///   - key: the key that was read or written.
    public typealias Handler = @Sendable (_ error: VaultError, _ key: String) -> Void

    private struct State {
        var lastError: VaultError?
        var handler: Handler
    }

    private let state: Mutex<State>

    /// Creates a log.
    ///
    /// - Parameter handler: called on the thread where the error occurred, with no lock held.
    public init(handler: @escaping Handler = FailureLog.standardErrorLine) { state = Mutex(State(handler: handler)) }

    /// The most recently reported error; nil if there is none.
    public var lastError: VaultError? { state.withLock { $0.lastError } }

    /// Replaces the handler.
    ///
    /// A handler that uses the log's store must capture the store weakly. Otherwise, neither of them is ever released.
    public func setHandler(_ handler: @escaping Handler) { state.withLock { $0.handler = handler } }

    /// Stores an error as ``lastError`` and passes it to the handler.
    public func report(_ error: VaultError, key: String) {
        let handler = state.withLock { state in
            state.lastError = error
            return state.handler
        }
        handler(error, key)
    }

    /// Writes a line `vault: KEY: MESSAGE` to standard error. Control and invisible characters are escaped (`\u{a}`).
    @Sendable public static func standardErrorLine(_ error: VaultError, key: String) {
        // The key might not have been checked. If it contains a newline, the rest could look like another message.
        let escaped = "vault: \(key): \(error.message)".unicodeScalars.map { scalar in
            scalar.isUnsafeOnTerminal ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
        // One call writes the whole line, so that lines from different threads do not mix.
        let line = escaped.joined() + "\n"
        _ = write(STDERR_FILENO, line, line.utf8.count)
    }
}
