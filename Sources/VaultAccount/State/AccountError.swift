public import Vault

/// Why an operation of ``AccountManager`` did not come about.
public enum AccountError: Error, Sendable, Hashable {
    /// The server has answered, and says no.
    case rejected(ServiceError)
    /// No answer from the server: nothing was changed.
    case unreachable(ServiceError)
    /// A store failed.
    case store(VaultError)
    /// The operation needs someone who is logged in.
    case notLoggedIn(LogoutReason)
    /// The login is too old; the person has to log in again.
    case expired
    /// Another account was made the current one meanwhile.
    case switched

    init(_ error: ServiceError) {
        self = error.kind == .rejected ? .rejected(error) : .unreachable(error)
    }
}

extension AccountError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .rejected(let error): "The server says no: \(error.message)"
        case .unreachable(let error): "The server cannot be reached: \(error.message)"
        case .store(let error): error.message
        case .notLoggedIn: "Nobody is logged in."
        case .expired: "The login is too old; please log in again."
        case .switched: "Another account is the current one by now."
        }
    }
}
