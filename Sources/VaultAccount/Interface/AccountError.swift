public import FoundationEssentials
public import Vault

/// Tells why an operation of ``AccountManager`` failed.
public enum AccountError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server answered and refused.
    case rejected(AccountServiceError)
    /// There is no answer from the server. Nothing was changed here; whether the server has acted is unknown.
    case unreachable(AccountServiceError)
    /// The calling task was cancelled. A refresh that others wait for goes on without it.
    case cancelled
    /// A store failed.
    case store(VaultError)
    /// The operation needs a person who is logged in.
    case notLoggedIn(LogoutReason)
    /// The login is too old. The person has to log in again.
    case expired
    /// Another account became the current one meanwhile.
    case switched

    public var description: String {
        switch self {
        case .rejected(let error): "The server refused: \(error.message)"
        case .unreachable(let error): "The server cannot be reached: \(error.message)"
        case .cancelled: "The task was cancelled."
        case .store(let error): error.message
        case .notLoggedIn: "Nobody is logged in."
        case .expired: "The login has expired. Log in again."
        case .switched: "Another account is the current one now."
        }
    }
}

extension AccountError: LocalizedError {
    /// The description, as `localizedDescription` returns it.
    public var errorDescription: String? { description }
}

/// Tells why the server did not do what it was asked for.
public struct AccountServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Distinguishes an answer from the lack of one.
    public enum Kind: Hashable, Sendable {
        /// The server answered and refused. It will refuse the same request again.
        case rejected
        /// There is no usable answer: no network, a time-out, a server's own error. A later attempt may succeed.
        case unreachable
    }

    /// Tells whether the server refused or did not answer.
    public let kind: Kind
    /// Explains the failure in a sentence for people, without any secret in it.
    public let message: String
    /// Tells how long the server asks clients to wait, if it says so.
    public let retryAfter: Duration?
    /// Tells whether the server ended the session: a rejection that logs the person out as
    /// ``LogoutReason/endedByServer``.
    public let isEndedByServer: Bool

    /// Creates an error for a server that answered and refused.
    public static func rejected(_ message: String) -> AccountServiceError {
        AccountServiceError(kind: .rejected, message: message, retryAfter: nil, isEndedByServer: false)
    }

    /// Creates an error for a server that refused because it ended the session.
    public static func endedByServer(_ message: String) -> AccountServiceError {
        AccountServiceError(kind: .rejected, message: message, retryAfter: nil, isEndedByServer: true)
    }

    /// Creates an error for a server without a usable answer.
    public static func unreachable(_ message: String, retryAfter: Duration? = nil) -> AccountServiceError {
        AccountServiceError(kind: .unreachable, message: message, retryAfter: retryAfter, isEndedByServer: false)
    }

    public var description: String { message }
}

extension AccountServiceError: LocalizedError {
    /// The message, as `localizedDescription` returns it.
    public var errorDescription: String? { message }
}

/// Reports a server's error as ``AccountError/rejected(_:)`` or ``AccountError/unreachable(_:)``.
func answered<Answer>(
    _ answer: @autoclosure () async throws(AccountServiceError) -> Answer
) async throws(AccountError) -> Answer {
    do { return try await answer() } catch {
        throw error.kind == .rejected ? .rejected(error) : .unreachable(error)
    }
}

/// Reports an error of a store as ``AccountError/store(_:)``.
func stored<Result>(_ result: @autoclosure () throws(VaultError) -> Result) throws(AccountError) -> Result {
    do { return try result() } catch { throw .store(error) }
}
