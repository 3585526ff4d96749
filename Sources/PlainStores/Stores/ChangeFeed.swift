private import Glibc
import LinuxSystem

/// Notifies observers of a store that something may have changed.
///
/// A notice says neither what has changed nor how often: observers read again and compare. So many changes at once are
/// one notice, and a slow observer still gets the latest state.
public final class ChangeFeed: Sendable {
    private struct State {
        var observers = [Int: AsyncStream<Void>.Continuation]()
        var lastID = 0
        /// Watches for other processes' changes; nil while there is no observer.
        var watch: (any AnyObject & Sendable)?
    }

    private let state = Mutex(State())
    private let watch: Watch

    /// Returns an object that watches for as long as it exists.
    package typealias Watch =
        @Sendable (_ notify: @escaping @Sendable () -> Void) throws(VaultError) -> (any AnyObject & Sendable)?

    /// Creates a feed for changes that this process makes.
    public init() { watch = { _ in nil } }

    /// Creates a feed that also notices changes of other processes, while there is an observer.
    package init(_ watch: @escaping Watch) { self.watch = watch }

    /// Creates a feed that also notices changes that other processes make to a file.
    ///
    /// - Parameter path: without symbolic links. Neither the file nor its folder need exist.
    convenience init(watching path: String, in fileSystem: any FileSystem = PosixFileSystem()) {
        self.init { (notify) throws(VaultError) in
            do throws(SystemError) { return try FileWatch(path, in: fileSystem, onChange: notify) } catch {
                throw VaultError(system: error, path)
            }
        }
    }

    /// Notifies the observers that something may have changed. This is cheap if there are none.
    public func notify() {
        let observers = state.withLock { Array($0.observers.values) }
        for observer in observers { observer.yield() }
    }

    /// Returns a stream that gives one element for any number of notices since the last one was taken. Changes after
    /// this call are noticed; soon after it, there may be a notice without a change.
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

    /// Adds an observer until its stream ends.
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
            // The removed continuation is released after the lock, since its end runs outside code.
            _ = self?.state.withLock { state in
                (state.observers.removeValue(forKey: id), state.observers.isEmpty ? state.watch.take() : nil)
            }
        }
    }

    package var observerCount: Int { state.withLock { $0.observers.count } }
}

/// Receives the errors that the getter or setter of ``ValueKey/value`` meets, which cannot throw.
///
/// Each is kept as ``lastError`` and passed to the handler. The default handler writes a line to standard error.
public final class FailureLog: Sendable {
    /// - Parameters:
    ///   - error: what went wrong; it contains no secret.
    ///   - key: the key that was read or written.
    public typealias Handler = @Sendable (_ error: VaultError, _ key: String) -> Void

    private struct State {
        var lastError: VaultError?
        var handler: Handler
    }

    private let state: Mutex<State>

    /// Creates a log.
    ///
    /// - Parameter handler: called on the thread that met the error, with no lock held.
    public init(handler: @escaping Handler = FailureLog.standardErrorLine) { state = Mutex(State(handler: handler)) }

    /// The last error that was reported; nil if there was none.
    public var lastError: VaultError? { state.withLock { $0.lastError } }

    /// Replaces the handler.
    ///
    /// A handler that uses a store of this log must capture it weakly; otherwise neither of the two is ever freed.
    public func setHandler(_ handler: @escaping Handler) { state.withLock { $0.handler = handler } }

    /// Keeps an error, and passes it to the handler.
    public func report(_ error: VaultError, key: String) {
        let handler = state.withLock { state in
            state.lastError = error
            return state.handler
        }
        handler(error, key)
    }

    /// Writes `vault: KEY: SENTENCE` and a newline to standard error. Control characters and invisible ones are
    /// escaped, as in `\u{a}`.
    @Sendable public static func standardErrorLine(_ error: VaultError, key: String) {
        // The key may be unchecked: with a newline in it, it could forge a line of its own.
        let escaped = "vault: \(key): \(error.message)".unicodeScalars.map { scalar in
            scalar.isUnsafeOnTerminal ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
        // The line is written at once, so that lines of several threads do not mix.
        let line = escaped.joined() + "\n"
        _ = write(STDERR_FILENO, line, line.utf8.count)
    }
}
