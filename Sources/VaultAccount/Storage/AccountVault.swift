import FoundationEssentials
import Vault

/// The accounts' secret data, which is in the vault and determines who is logged in.
///
/// All of the data is in one scope of a store, so that a login or a logout is one commit.
struct AccountVault: Sendable {
    let store: ScopedStore

    // A logout must leave no token behind, not even a replaced one.
    init(_ keychain: any ValueStore) { store = keychain.scoped(to: "account").forgettingHistory() }

    var current: KeychainStorable<String> { key("current") }
    var ended: KeychainStorable<LogoutReason> { key("ended") }
    /// A user name and a password from an older program, for the next automatic login while nobody is logged in.
    var waiting: KeychainStorable<WaitingLogin> { key("waiting") }

    func session(_ id: String) -> KeychainStorable<Session> { key("session/", id) }
    func password(_ id: String) -> KeychainStorable<String> { key("password/", id) }
    func secrets(_ id: String) -> KeychainStorable<[String: StoredValue]> { key("secret/", id) }
    /// A profile change that is not yet in the preferences.
    func pendingChange(_ id: String) -> KeychainStorable<ProfileChange> { key("pendingChange/", id) }
    /// Whether a profile has yet to be removed from the preferences.
    func pendingRemoval(_ id: String) -> KeychainStorable<Bool> { key("pendingRemoval/", id) }
    /// The source of a migrated account, recorded as long as it may still contain an unencrypted copy of the account.
    func migrated(_ id: String) -> KeychainStorable<String> { key("migrated/", id) }

    func accountIDs() throws -> [String] { try ids("session") }
    func pendingIDs() throws -> [String] { try ids("pendingChange") + ids("pendingRemoval") }
    func migratedIDs() throws -> [String] { try ids("migrated") }

    /// Waits for an account's lock, which all managers and processes share. Only its holder may renew the session.
    ///
    /// A server that rotates tokens accepts each refresh token only once, and may end the session after a second use.
    func acquireLock(_ id: String) async throws -> NameLock {
        try await store.acquireLock("session/" + AccountVault.encoded(id))
    }

    private func key<Value: StoredObject>(_ prefix: String, _ id: String = "") -> KeychainStorable<Value> {
        KeychainStorable(prefix + AccountVault.encoded(id), in: .store(store))
    }

    private static let idBytes = Set<UInt8>(0x20...0xff).subtracting([0x7f, UInt8(ascii: "%")])

    /// Encodes an account's id for a key. A server may choose any string, but keys cannot contain control characters.
    static func encoded(_ id: String) -> String { id.percentEncoded(allowing: idBytes) }

    private func ids(_ kind: String) throws -> [String] {
        try store.scoped(to: kind).keys(prefix: "").map { $0.percentDecoded() }
    }
}

struct Session: StoredAsCodable, Sendable, Equatable {
    var accountID: String
    var userName: String
    var tokens: AccountTokens
    /// The time of the login, which distinguishes the session from the account's other sessions.
    var loggedInAt: Date
    /// The time of the tokens' last renewal; nil if they have not been renewed since the login.
    var renewedAt: Date?
    /// The time of the last use, recorded at intervals, and only if each use extends the session's validity.
    var usedAt: Date?
}

/// The login that ``AccountManager/autoLogin()`` will try.
struct WaitingLogin: StoredAsCodable, Sendable, Equatable {
    var userName: String
    var password: String
}

struct HeldProfile: Sendable {
    var secrets: [String: StoredValue] = [:]
    var pending: ProfileChange?
    var isLeaving = false
}

extension AccountVault {
    /// Returns the current account's session and the vault's part of its profile, or why nobody is logged in.
    func present() throws(VaultError) -> (session: Session?, held: HeldProfile, ended: LogoutReason?) {
        // All reads are in one transaction, so that a login or logout between them cannot mix old and new values.
        try store.atomically { (transaction) throws(VaultError) in
            if let id = try transaction.read(current), let session = try transaction.read(session(id)) {
                return (session, try heldProfile(of: id, &transaction), nil)
            }
            return (nil, HeldProfile(), try transaction.read(ended))
        }
    }

    func heldProfile(of id: String) throws(VaultError) -> HeldProfile {
        try store.atomically { (transaction) throws(VaultError) in try heldProfile(of: id, &transaction) }
    }

    private func heldProfile(of id: String, _ transaction: inout ValueTransaction) throws(VaultError) -> HeldProfile {
        HeldProfile(
            secrets: try transaction.read(secrets(id)) ?? [:], pending: try transaction.read(pendingChange(id)),
            isLeaving: try transaction.read(pendingRemoval(id)) == true)
    }

    func isCurrent(_ session: Session) throws -> Bool {
        let present = try present().session
        return present?.accountID == session.accountID && present?.tokens == session.tokens
    }

    /// Makes an account the current one. Returns false if the account has no session.
    func switchAccount(to id: String) throws -> Bool {
        try store.atomically { transaction in
            guard try transaction.read(session(id)) != nil else { return false }
            try transaction.write(id, to: current)
            try transaction.remove(ended)
            return true
        }
    }
}
