import CPostgres
import Formats
import LinuxSystem
import Vault

/// The location of a vault in a database: `postgresql://host,host2/database?option=value#name`. It consists of libpq's
/// connection URI (34.1.1.2) and the name of the vault.
struct DatabaseURL {
    /// The connection parameters that the URL sets. libpq takes others from the environment and its own files.
    let parameters: ConnectionParameters
    /// The name of the entry with the password in this machine's own vault; nil if libpq looks up the password itself.
    let passwordEntry: String?
    let vault: String
    /// The vault's location. It does not depend on the user or the order of hosts, so a failover does not change it.
    let location: String

    private static let standardVault = "default"

    /// - Throws: ``VaultError/Code/invalid``.
    init(_ url: String) throws(VaultError) {
        let hash = url.utf8.firstIndex(of: UInt8(ascii: "#"))
        vault = hash.map { String(url[$0...].dropFirst()) } ?? DatabaseURL.standardVault
        guard VaultConfiguration.isName(vault[...]) else {
            throw VaultError(
                .invalid,
                "Invalid vault name after #. Use 1 to 64 letters, digits, dots, hyphens and underscores, as in #team.")
        }
        let (uri, entry) = try DatabaseURL.takePasswordEntry(from: url[..<(hash ?? url.endIndex)])
        passwordEntry = entry
        var given = try DatabaseURL.parsed(uri)
        guard given["password"] == nil, given["sslpassword"] == nil else {
            throw VaultError(
                .invalid,
                "The vault's URL contains a password, which other programs could see. Put it into ~/.pgpass or into a "
                    + "service file, or name an entry of this machine's own vault: ?password-entry=NAME.")
        }
        guard given["dbname"] != nil || given["service"] != nil else {
            throw VaultError(
                .invalid, "The vault's URL names no database. Use the form postgresql://HOST/DATABASE#\(vault).")
        }
        location = DatabaseURL.location(given, vault)
        given["application_name"] = given["application_name"] ?? "vault"
        given["client_encoding"] = "UTF8"
        parameters = given
    }

    /// Removes the option `password-entry`, which libpq would reject. Returns the remaining URI and the option's value.
    private static func takePasswordEntry(from uri: Substring) throws(VaultError) -> (String, String?) {
        guard let mark = uri.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (String(uri), nil) }
        let option = "password-entry="
        let base = uri[..<mark]
        var options = uri[mark...].dropFirst().split(separator: "&")
        guard let index = options.firstIndex(where: { $0.hasPrefix(option) }) else { return (String(uri), nil) }
        let value = options.remove(at: index).dropFirst(option.count)
        guard let entry = PercentEncoding.text(value.utf8), !entry.isEmpty else {
            throw VaultError(.invalid, "The vault's URL names no entry. Write password-entry=NAME.")
        }
        return (options.isEmpty ? String(base) : "\(base)?\(options.joined(separator: "&"))", entry)
    }

    private static func parsed(_ uri: String) throws(VaultError) -> ConnectionParameters {
        var message: UnsafeMutablePointer<CChar>?
        // The scheme is replaced, because libpq would treat a URL with a capitalized scheme as a database name.
        let rest = uri.utf8.firstIndex(of: UInt8(ascii: ":")).map { uri[$0...] } ?? ""
        guard let options = PQconninfoParse("postgresql\(rest)", &message) else {
            // libpq's message is discarded, because it may repeat parts of the URL, including a password.
            PQfreemem(message)
            throw VaultError(.invalid, "The vault's URL is not valid. Use the form postgresql://HOST/DATABASE#NAME.")
        }
        defer { PQconninfoFree(options) }
        var given = ConnectionParameters()
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { given[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return given
    }

    private static func location(_ given: ConnectionParameters, _ vault: String) -> String {
        let all = given.addresses.sorted().joined(separator: ",")
        let service = given["service"].map { "?service=\($0)" } ?? ""
        return "postgresql://\(all)/\(given["dbname"] ?? "")\(service)#\(vault)"
    }
}
