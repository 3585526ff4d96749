import LinuxSystem
import Vault

/// A server that proves its identity, either by its certificate or by being on this machine. Only a verified server is
/// sent a password from this machine's vault, because an impostor could request it in clear text.
struct VerifiedServer: Sendable {
    let server: Server
    private let hosts: [String]
    private let user, database: String?

    /// The names of the attributes that state where an entry's password may be used. Git logins use the same names.
    private enum Key {
        static let scheme = "protocol"
        static let host = "host"
        static let path = "path"
        static let username = "username"
    }
    private static let scheme = "postgresql"

    init(_ server: Server) throws(PostgresError) {
        user = server.parameters["user"]
        database = server.parameters["dbname"]
        var named = server.parameters
        // If the parameters name no host, libpq uses its default socket, which an empty host represents here.
        if named["host"] == nil, named["hostaddr"] == nil { named["host"] = "" }
        hosts = named.addresses.map { $0.isEmpty || $0.hasPrefix(":") ? "localhost\($0)" : $0 }
        guard server.provesItself else {
            throw PostgresError(
                .malformed,
                "sslmode=\(server.mode) does not prove the server's identity, so no password from this machine's vault is "
                    + "sent to it. Use sslmode=verify-full, or name a server on this machine by its socket or address")
        }
        var server = server
        // Kerberos encryption is disabled. It would replace TLS, and libpq would then not check the certificate.
        if !server.isLocal { server.parameters["gssencmode"] = "disable" }
        self.server = server
    }

    /// Returns whether an entry's attributes permit the use of its password for this server's database.
    private func isNamed(by attributes: [String: String]) -> Bool {
        let named = Set(ConnectionParameters.list(attributes[Key.host]).map(ExactText.init))
        return attributes[Key.scheme].isSame(as: VerifiedServer.scheme)
            && hosts.allSatisfy { named.contains(ExactText($0)) }
            && attributes[Key.path].map { $0.isSame(as: database) } ?? true
            && attributes[Key.username].map { $0.isSame(as: user) } ?? true
    }

    /// Throws `guarded` unless `attributes` permit using the entry's password for the databases of all `servers`.
    ///
    /// - Parameter vault: the path of the vault that contains the entry, for the error message.
    static func check(
        _ servers: [VerifiedServer], _ attributes: [String: String], of entry: String, in vault: String
    ) throws(VaultError) {
        let hosts = servers.flatMap(\.hosts).joined(separator: ",")
        let marks = ["\(Key.scheme)=\(VerifiedServer.scheme)", "\(Key.host)=\(ShellQuoting.quoted(hosts))"]
        guard attributes[Key.scheme] != nil || attributes[Key.host] != nil else {
            throw VaultError(
                .guarded,
                "\"\(entry)\" is not marked for this database. To allow it, run "
                    + "`vault attr \(ShellQuoting.quoted(entry)) \(marks.joined(separator: " ")) "
                    + "--vault \(ShellQuoting.quoted(vault))`.")
        }
        guard servers.allSatisfy({ $0.isNamed(by: attributes) }) else {
            throw VaultError(
                .guarded,
                "\"\(entry)\" is marked for something other than this database. Store the password in a separate "
                    + "entry with the attributes \(marks.joined(separator: " and ")).")
        }
    }
}
