import FoundationEssentials
import Vault

/// Stores the secret part of the accounts, which decides who is logged in.
///
/// All of it is in one scope of a store, so that a login or a logout is one commit. The names of keys are stored data:
/// `turn`, `owed` and `leaving` are older words for a lease, pending fields and a pending removal.
struct AccountVault: Sendable {
    let store: ScopedStore

    init(_ keychain: any ValueStore) { store = keychain.scoped(to: "account") }

    var current: KeychainStorable<String> { key("current") }
    /// Why nobody is logged in.
    var ended: KeychainStorable<LogoutReason> { key("ended") }
    /// A user name and a password of an older program, for the next automatic login while nobody is logged in.
    var waiting: KeychainStorable<WaitingLogin> { key("waiting") }

    func session(_ id: String) -> KeychainStorable<Session> { key("session/", id) }
    func password(_ id: String) -> KeychainStorable<String> { key("password/", id) }
    func lease(_ id: String) -> KeychainStorable<RefreshLease.Record> { key("turn/", id) }
    /// Fields of a profile that are not yet in the preferences.
    func pendingFields(_ id: String) -> KeychainStorable<[String: StoredValue]> { key("owed/", id) }
    /// Whether a profile is still to be removed from the preferences.
    func pendingRemoval(_ id: String) -> KeychainStorable<Bool> { key("leaving/", id) }
    /// The source that the account was migrated from, as long as the plain copy there may still exist.
    func migrated(_ id: String) -> KeychainStorable<String> { key("migrated/", id) }

    func accountIDs() throws(VaultError) -> [String] { try ids("session") }
    func pendingIDs() throws(VaultError) -> [String] { try ids("owed") + ids("leaving") }
    func migratedIDs() throws(VaultError) -> [String] { try ids("migrated") }

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
    var tokens: Tokens
    var loggedInAt: Date
}

/// A login that is still to come.
struct WaitingLogin: StoredAsCodable, Sendable, Equatable {
    var userName: String
    var password: String
}

extension AccountVault {
    /// Returns the session of the current account, or why there is none.
    func present() throws(VaultError) -> (session: Session?, ended: LogoutReason?) {
        // In a transaction: a login or a logout between two reads must not mix the old with the new.
        try store.atomically { (transaction) throws(VaultError) in
            if let id = try transaction.read(current), let session = try transaction.read(session(id)) {
                return (session, nil)
            }
            return (nil, try transaction.read(ended))
        }
    }

    /// Makes the session's account the current one. The fields of its profile become pending for the preferences.
    func logIn(_ session: Session, fields: [String: StoredValue], password: String?) throws(VaultError) {
        let id = session.accountID
        try store.atomically { (transaction) throws(VaultError) in
            try transaction.write(session, to: self.session(id))
            try transaction.write(id, to: current)
            try transaction.remove(ended)
            try transaction.remove(waiting)
            // It was for a refresh of the former tokens.
            try transaction.remove(lease(id))
            try transaction.write(fields, to: pendingFields(id))
            try transaction.remove(self.password(id))
            if let password { try transaction.write(password, to: self.password(id)) }
        }
    }

    /// - Returns: false, and nothing is changed, if the account has other tokens than those given.
    func logOut(_ id: String, _ reason: LogoutReason, if tokens: Tokens?) throws(VaultError) -> Bool {
        try store.atomically { (transaction) throws(VaultError) in
            if let tokens, try transaction.read(session(id))?.tokens != tokens { return false }
            try transaction.remove(session(id))
            try transaction.remove(password(id))
            try transaction.remove(lease(id))
            try transaction.remove(pendingFields(id))
            if reason == .byUser {
                // In all other cases the profile stays: it may hold what only this machine knows.
                try transaction.write(true, to: pendingRemoval(id))
                try transaction.remove(waiting)
            }
            guard try transaction.read(current) == id else { return true }
            try transaction.remove(current)
            try transaction.write(reason, to: ended)
            return true
        }
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

    func removeWaiting() throws(VaultError) { if try waiting.read() != nil { try waiting.remove() } }

    /// Drops a waiting login that the server has rejected.
    func giveUp(_ login: WaitingLogin) throws(VaultError) {
        try store.atomically { (transaction) throws(VaultError) in
            guard try transaction.read(waiting) == login else { return }
            try transaction.remove(waiting)
            if try transaction.read(current) == nil { try transaction.write(.rejected, to: ended) }
        }
    }
}
