public import FoundationEssentials
public import Vault

/// The reason why an operation of ``AccountManager`` failed.
public enum AccountError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server answered and refused the request.
    case rejected(AccountServiceError)
    /// The server did not answer. Nothing was changed on this machine, but the server may have executed the request.
    case unreachable(AccountServiceError)
    /// The calling task was cancelled. A refresh that other tasks wait for continues.
    case cancelled
    /// A store failed.
    case store(VaultError)
    /// The operation requires a person who is logged in.
    case notLoggedIn(LogoutReason)
    /// The login is too old. The person has to log in again.
    case expired
    /// Another account has become the current one.
    case switched

    public var description: String {
        switch self {
        case .rejected(let error): "The server refused: \(error.message)"
        case .unreachable(let error): "The server cannot be reached: \(error.message)"
        case .cancelled: "The task was cancelled."
        case .store(let error): error.message
        case .notLoggedIn: "Nobody is logged in."
        case .expired: "The login has expired. Log in again."
        case .switched: "Another account has become the current one."
        }
    }
}

extension AccountError: LocalizedError {
    /// The description, as `localizedDescription` returns it.
    public var errorDescription: String? { description }
}

/// The reason why the server did not execute a request.
public struct AccountServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error, which tells whether the server answered.
    public enum Kind: Hashable, Sendable {
        /// The server answered and refused the request. It will refuse the same request again.
        case rejected
        /// There is no usable answer (no network, a timeout, an internal server error). A later attempt may succeed.
        case unreachable
    }

    /// Whether the server refused the request or did not answer.
    public let kind: Kind
    /// An explanation for people, in a sentence that contains no secret.
    public let message: String
    /// The pause that the server demands before the next request; nil if it demands none.
    public let retryAfter: Duration?
    /// Whether the server ended the session, which logs the person out as ``LogoutReason/endedByServer``.
    public let isEndedByServer: Bool

    var isRejection: Bool { kind == .rejected }

    /// Creates an error for a request that the server refused.
    public static func rejected(_ message: String) -> AccountServiceError {
        AccountServiceError(kind: .rejected, message: message, retryAfter: nil, isEndedByServer: false)
    }

    /// Creates an error for a request that the server refused because it ended the session.
    public static func endedByServer(_ message: String) -> AccountServiceError {
        AccountServiceError(kind: .rejected, message: message, retryAfter: nil, isEndedByServer: true)
    }

    /// Creates an error for a request that received no usable answer.
    public static func unreachable(_ message: String, retryAfter: Duration? = nil) -> AccountServiceError {
        AccountServiceError(kind: .unreachable, message: message, retryAfter: retryAfter, isEndedByServer: false)
    }

    public var description: String { message }
}

extension AccountServiceError: LocalizedError {
    /// The message, as `localizedDescription` returns it.
    public var errorDescription: String? { message }
}

// Inside the module, errors of the stores and of the server are thrown as they are. Each public method uses the
// functions below to throw them as an ``AccountError``.

extension AccountError {
    init(_ error: any Error) {
        switch error {
        case let error as AccountError: self = error
        case let error as AccountServiceError:
            self = error.isRejection ? .rejected(error) : .unreachable(error)
        case let error as VaultError: self = .store(error)
        default: self = .store(VaultError(.unavailable, "\(error)"))
        }
    }
}

func reported<Result>(_ body: () throws -> Result) throws(AccountError) -> Result {
    do { return try body() } catch { throw AccountError(error) }
}

func reportedAsynchronously<Result>(_ body: () async throws -> Result) async throws(AccountError) -> Result {
    do { return try await body() } catch { throw AccountError(error) }
}
