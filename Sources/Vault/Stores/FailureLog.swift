import LinuxSystem

/// Where errors go that the getter or setter of ``StoredKeyed/value`` meets: they cannot throw.
///
/// Each is kept as ``lastError``, and given to the handler: one line on standard error, unless another is set.
public final class FailureLog: Sendable {
    /// - Parameters:
    ///   - error: what went wrong; it holds no secret.
    ///   - key: the key that was read or written.
    public typealias Handler = @Sendable (_ error: VaultError, _ key: String) -> Void

    private struct State {
        var lastError: VaultError?
        var handler: Handler
    }

    private let state: Mutex<State>

    /// - Parameter handler: called on the thread that met the error, with no lock held.
    public init(handler: @escaping Handler = FailureLog.standardErrorLine) {
        state = Mutex(State(handler: handler))
    }

    /// The last error that was reported; nil if there was none.
    public var lastError: VaultError? { state.withLock { $0.lastError } }

    /// Puts another handler in place of the one that is called now.
    ///
    /// A handler that uses a store of this log captures it weakly; otherwise neither of the two is ever freed.
    public func setHandler(_ handler: @escaping Handler) {
        state.withLock { $0.handler = handler }
    }

    /// Keeps an error, and gives it to the handler.
    public func report(_ error: VaultError, key: String) {
        let handler = state.withLock { state in
            state.lastError = error
            return state.handler
        }
        handler(error, key)
    }
}
