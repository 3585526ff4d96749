import FoundationEssentials
import Vault

/// Stores the secret part of the accounts, which decides who is logged in.
///
/// All of it is in one scope of a store, so that a login or a logout is one commit. The names of keys are stored data:
/// `owed` and `leaving` are older words for a pending change and a pending removal.
struct AccountVault: Sendable {
    let store: ScopedStore

    // Whoever logs out leaves no token behind, not even a former one.
    init(_ keychain: any ValueStore) { store = keychain.scoped(to: "account").forgettingHistory() }

    var current: KeychainStorable<String> { key("current") }
    /// Why nobody is logged in.
    var ended: KeychainStorable<LogoutReason> { key("ended") }
    /// A user name and a password of an older program, for the next automatic login while nobody is logged in.
    var waiting: KeychainStorable<WaitingLogin> { key("waiting") }

    func session(_ id: String) -> KeychainStorable<Session> { key("session/", id) }
    func password(_ id: String) -> KeychainStorable<String> { key("password/", id) }
    /// The secret fields of a profile.
    func secrets(_ id: String) -> KeychainStorable<[String: StoredValue]> { key("secret/", id) }
    /// A change to a profile that is not yet in the preferences.
    func pendingChange(_ id: String) -> KeychainStorable<ProfileChange> { key("owed/", id) }
    /// Whether a profile is still to be removed from the preferences.
    func pendingRemoval(_ id: String) -> KeychainStorable<Bool> { key("leaving/", id) }
    /// The source that the account was migrated from, as long as the plain copy there may still exist.
    func migrated(_ id: String) -> KeychainStorable<String> { key("migrated/", id) }

    func accountIDs() throws(VaultError) -> [String] { try ids("session") }
    func pendingIDs() throws(VaultError) -> [String] { try ids("owed") + ids("leaving") }
    func migratedIDs() throws(VaultError) -> [String] { try ids("migrated") }

    /// Waits for the right to renew the account's session, among all managers and processes that share it.
    ///
    /// A server that rotates tokens accepts each refresh token once, and may end the session if it sees one twice.
    func acquireLock(_ id: String) async throws(VaultError) -> NameLock {
        try await store.acquireLock("session/" + AccountVault.encoded(id))
    }

    private func key<Value: StoredObject>(_ prefix: String, _ id: String = "") -> KeychainStorable<Value> {
        KeychainStorable(prefix + AccountVault.encoded(id), in: .store(store))
    }

    private static let idBytes = Set<UInt8>(0x20...0xff).subtracting([0x7f, UInt8(ascii: "%")])

    /// Encodes an account's id for a key: a server may choose any text, but keys have no control characters.
    static func encoded(_ id: String) -> String { id.percentEncoded(allowing: idBytes) }

    private func ids(_ kind: String) throws(VaultError) -> [String] {
        try store.scoped(to: kind).keys(prefix: "").map { $0.percentDecoded() }
    }
}

struct Session: StoredAsCodable, Sendable, Equatable {
    var accountID: String
    var userName: String
    var tokens: AccountTokens
    /// Tells one login from another.
    var loggedInAt: Date
    /// When the tokens came, if that was after the login.
    var renewedAt: Date?
    /// When the session was last used; recorded at intervals, and only if the validity counts from it.
    var usedAt: Date?
}

/// A login that is still to come.
struct WaitingLogin: StoredAsCodable, Sendable, Equatable {
    var userName: String
    var password: String
}

/// What the vault holds of an account's profile.
struct HeldProfile: Sendable {
    var secrets: [String: StoredValue] = [:]
    var pending: ProfileChange?
    var isLeaving = false
}

extension AccountVault {
    /// Returns the session of the current account and what belongs to its profile, or why there is none.
    func present() throws(VaultError) -> (session: Session?, held: HeldProfile, ended: LogoutReason?) {
        // In a transaction: a login or a logout between two reads must not mix the old with the new.
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

    private func heldProfile(
        of id: String, _ transaction: inout ValueTransaction
    ) throws(VaultError) -> HeldProfile {
        HeldProfile(
            secrets: try transaction.read(secrets(id)) ?? [:], pending: try transaction.read(pendingChange(id)),
            isLeaving: try transaction.read(pendingRemoval(id)) == true)
    }

    /// Returns whether the session is the current account's, with these tokens.
    func isCurrent(_ session: Session) throws(VaultError) -> Bool {
        let present = try present().session
        return present?.accountID == session.accountID && present?.tokens == session.tokens
    }

    /// - Returns: false if the account has no session.
    func switchAccount(to id: String) throws(VaultError) -> Bool {
        try store.atomically { (transaction) throws(VaultError) in
            guard try transaction.read(session(id)) != nil else { return false }
            try transaction.write(id, to: current)
            try transaction.remove(ended)
            return true
        }
    }
}
