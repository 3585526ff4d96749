import Formats
import FoundationEssentials
import LinuxSystem
import Vault

/// Git credentials in a vault, stored as entries below `git/`. Lookups use only the attributes `protocol`, `host`,
/// `path` and `username`, so users may rename the entries.
struct GitLogins {
    static let prefix = "git/"

    let keychain: Keychain
    let invocation: Invocation

    /// Returns the credential for a request, or nil if there is none. If several match, returns the newest one. If the
    /// request has no path, credentials without a path are preferred.
    ///
    /// - Throws: the same errors as ``Keychain/get(_:)``.
    func find(_ request: GitCredential) throws -> GitCredential? {
        guard request.isAddressed else { return nil }
        let items = try keychain.items(prefix: GitLogins.prefix, attributes: request.purpose)
        let knowsAuthtype = request.capabilities.contains(GitCredential.authtypeCapability)
        let logins = items.filter { !$0.isField && ($0.attributes[Key.authtype] == nil || knowsAuthtype) }
        if let login = newest(of: logins, for: request), let secret = try read(login.name) {
            return try credential(login, secret)
        }
        // After a password has expired, git passes the refresh token to another helper, which obtains a new password.
        guard let field = newest(of: items.filter(\.isField), for: request) else { return nil }
        var found = GitCredential()
        found.username = field.attributes[Key.username]
        found.refreshToken = try read(field.name)
        return found
    }

    private func newest(of items: [Keychain.Item], for request: GitCredential) -> Keychain.Item? {
        let withoutPath = request.path == nil ? items.filter { $0.attributes[Key.path] == nil } : []
        return (withoutPath.isEmpty ? items : withoutPath).max { $0.modified < $1.modified }
    }

    private func read(_ name: String) throws -> HeldSecret? { try invocation.held(name, from: keychain, action: "get") }

    private func credential(_ login: Keychain.Item, _ secret: HeldSecret) throws -> GitCredential {
        var found = GitCredential()
        found.username = login.attributes[Key.username]
        found.authtype = login.attributes[Key.authtype]
        if found.authtype == nil { found.password = secret } else { found.credential = secret }
        found.expiry = login.expires.map { Int64($0.timeIntervalSince1970) }
        found.refreshToken = try read(Login.name(of: .refreshToken, in: login.name))
        return found
    }

    /// Stores a credential that has proved valid, unless the vault already has an equal one.
    ///
    /// Older versions of git send neither an expiry nor a refresh token. The stored expiry and token are then kept
    /// until the password changes.
    ///
    /// - Throws: the same errors as ``Keychain/transaction(_:)``.
    func store(_ given: GitCredential) throws {
        guard let secret = given.kept else { return }
        try keychain.transaction { transaction in
            let name = try name(for: given)
            let field = Login.name(of: .refreshToken, in: name)
            let isEqual = try transaction.has(secret, under: name)
            // The transaction has read the entry, so it is retried if another process then changes the attributes.
            let former = try keychain.item(name)
            var attributes = former?.attributes ?? [:]
            attributes[Key.authtype] = nil
            attributes.merge(given.purpose) { $1 }
            if let authtype = given.authtype { attributes[Key.authtype] = authtype }
            let expires =
                given.expiry.map { Date(timeIntervalSince1970: Double($0)) } ?? (isEqual ? former?.expires : nil)
            if !isEqual || !attributes.isSame(as: former?.attributes) || expires != former?.expires {
                try transaction.set(name, to: secret.bytes, attributes: attributes, expires: expires)
            }
            if let token = given.refreshToken {
                guard try !transaction.has(token, under: field) else { return }
                let attributes = given.purpose.merging([Key.field: Login.Field.refreshToken.rawValue]) { $1 }
                try transaction.set(field, to: token.bytes, attributes: attributes)
            } else if !isEqual {
                try transaction.remove(field)
            }
        }
    }

    /// Returns the name of the login with the protocol, host, path and user name of `given`; a new name if none exists.
    private func name(for given: GitCredential) throws(VaultError) -> String {
        let items = try keychain.items(prefix: GitLogins.prefix, attributes: given.purpose).filter {
            $0.attributes[Key.path].isSame(as: given.path) && $0.attributes[Key.username].isSame(as: given.username)
        }
        if let login = items.first(where: { !$0.isField }) { return login.name }
        // After a password has expired, only its refresh token is left, whose name contains the login's name.
        if let field = items.first(where: \.isField), let (login, _) = Login.split(field.name) { return login }
        return try keychain.freeName(like: given.name, withField: .refreshToken)
    }

    /// Removes the entries that match a request. If the request has a password, only an entry with an equal password is
    /// removed, because another git process may have stored a new password in the meantime.
    ///
    /// - Throws: the same errors as ``Keychain/transaction(_:)``.
    func erase(_ request: GitCredential) throws {
        guard request.isAddressed else { return }
        try keychain.transaction { transaction in
            for item in try keychain.items(prefix: GitLogins.prefix, attributes: request.purpose) {
                guard try isRejected(item, request, &transaction) else { continue }
                try transaction.remove(item.name)
                if !item.isField { try transaction.remove(Login.name(of: .refreshToken, in: item.name)) }
            }
        }
    }

    private func isRejected(
        _ item: Keychain.Item, _ request: GitCredential, _ transaction: inout Keychain.Transaction
    ) throws(VaultError) -> Bool {
        if item.isField {
            // If the request has a password, a refresh token is removed only together with its login. Otherwise, it is
            // removed even if its login has already expired.
            guard request.password == nil, request.credential == nil else { return false }
            guard let token = request.refreshToken else { return true }
            return try transaction.has(token, under: item.name)
        }
        let hasAuthtype = item.attributes[Key.authtype] != nil
        guard let secret = request.password ?? request.credential else { return true }
        guard hasAuthtype == (request.password == nil) else { return false }
        return try transaction.has(secret, under: item.name)
    }
}

/// The attribute keys of git's credentials.
private enum Key {
    static let scheme = "protocol"
    static let host = "host"
    static let path = "path"
    static let username = Login.AttributeKey.username
    static let authtype = "authtype"
    /// The mark of a login's field. Its entry has the login's attributes too, so it is found after the login expires.
    static let field = "field"
}

extension Keychain.Item { fileprivate var isField: Bool { attributes[Key.field] != nil } }

extension GitCredential {
    /// Whether the request has a protocol and a host, either of which may be empty. git's own requests always have
    /// both. Without a host, a request would match the credentials of all hosts.
    fileprivate var isAddressed: Bool { scheme != nil && host != nil }

    /// The credential's protocol, host, path and user name, as attributes.
    fileprivate var purpose: [String: String] {
        let pairs = [(Key.scheme, scheme), (Key.host, host), (Key.path, path), (Key.username, username)]
        return Dictionary(uniqueKeysWithValues: pairs.compactMap { pair in pair.1.map { (pair.0, $0) } })
    }

    /// The name for a new entry, such as `git/github.com/mia`. It includes the path, and any protocol but https.
    fileprivate var name: String {
        let server = (scheme == "https" ? "" : "\(scheme ?? "")://") + (host ?? "")
        let path = path.map { $0.hasPrefix("/") ? String($0.dropFirst()) : $0 }
        return GitLogins.prefix
            + [server, path, username].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "/")
    }

    /// The secret to store; nil if the credential has none or must not be stored.
    var kept: HeldSecret? {
        guard isAddressed, !isEphemeral, expiry.map({ Double($0) > Date().timeIntervalSince1970 }) ?? true else {
            return nil
        }
        return authtype != nil ? credential : username != nil ? password : nil
    }
}
