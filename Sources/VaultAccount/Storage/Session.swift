import FoundationEssentials
import Vault

/// What the vault keeps of a login.
struct Session: StoredAsCodable, Sendable, Equatable {
    var accountID: String
    var userName: String
    var tokens: Tokens
    var loggedInAt: Date
}

/// A login that is yet to be made.
struct WaitingLogin: StoredAsCodable, Sendable, Equatable {
    var userName: String
    var password: String
}
