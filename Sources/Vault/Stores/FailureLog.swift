private import Glibc
import LinuxSystem

/// Receives the errors that the getter or setter of ``StoredKeyed/value`` meets, which cannot throw.
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
    public init(handler: @escaping Handler = FailureLog.standardErrorLine) {
        state = Mutex(State(handler: handler))
    }

    /// The last error that was reported; nil if there was none.
    public var lastError: VaultError? { state.withLock { $0.lastError } }

    /// Replaces the handler.
    ///
    /// A handler that uses a store of this log must capture it weakly; otherwise neither of the two is ever freed.
    public func setHandler(_ handler: @escaping Handler) {
        state.withLock { $0.handler = handler }
    }

    /// Keeps an error, and passes it to the handler.
    public func report(_ error: VaultError, key: String) {
        let handler = state.withLock { state in
            state.lastError = error
            return state.handler
        }
        handler(error, key)
    }

    /// Writes `vault: KEY: SENTENCE` and a newline to standard error. Control characters are escaped, as in `\u{a}`.
    @Sendable public static func standardErrorLine(_ error: VaultError, key: String) {
        // In one write, so that lines of several threads do not mix.
        var line = "vault: \(key): \(error.message)".escapingControlCharacters + "\n"
        line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension String {
    /// A key is checked only when it is used: an unchecked one could look like a line of its own.
    fileprivate var escapingControlCharacters: String {
        unicodeScalars.reduce(into: "") { escaped, scalar in
            if scalar.properties.generalCategory == .control {
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
