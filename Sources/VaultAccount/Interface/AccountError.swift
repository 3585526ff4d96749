public import FoundationEssentials
public import Vault

/// The reason why an operation of ``AccountManager`` failed.
public enum AccountError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server answered and refused the request.
    case rejected(AccountServiceError)
    /// There was no usable answer. Nothing was changed on this machine, but the server may have executed the request.
    case unreachable(AccountServiceError)
    /// The calling task was cancelled. A token renewal that is already running continues.
    case cancelled
    /// A store failed.
    case store(VaultError)
    /// Nobody is logged in, but the operation requires a login.
    case notLoggedIn(LogoutReason)
    /// The login has expired. The person has to log in again.
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
    /// The description, for `localizedDescription`.
    public var errorDescription: String? { description }
}

/// The reason why a request to the server failed.
public struct AccountServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure: a refusal, or no usable answer.
    public enum Kind: Hashable, Sendable {
        /// The server answered and refused the request. It will refuse the same request again.
        case rejected
        /// There was no usable answer (no network, a timeout, an internal server error). A later attempt may succeed.
        case unreachable
    }

    /// Whether the server refused the request or gave no usable answer.
    public let kind: Kind
    /// A sentence that explains the failure to the user and contains no secret.
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
    /// The message, for `localizedDescription`.
    public var errorDescription: String? { message }
}

// Inside the module, errors of the stores and of the server are thrown unchanged. Each public method uses the functions
// below to convert them to an ``AccountError``.

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
