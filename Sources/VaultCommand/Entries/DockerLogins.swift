import Formats
import LinuxSystem
import Vault

/// Docker credentials in a vault, stored as entries below `docker/`. Their attribute `docker` is the registry's address
/// as docker spells it. Lookups use only this attribute, so users may rename the entries.
struct DockerLogins {
    static let prefix = "docker/"
    private static let server = "docker"

    let keychain: Keychain
    let invocation: Invocation

    /// Returns the user name and the secret for the registry `server`, or nil if the vault has no login for it.
    func find(_ server: String) throws -> (username: String, secret: HeldSecret)? {
        guard let item = try newest(of: items(for: server)),
            let secret = try invocation.held(item.name, from: keychain, action: "get")
        else { return nil }
        return (item.attributes[Login.AttributeKey.username] ?? "", secret)
    }

    /// Stores a login, unless the vault already has an equal one.
    func store(_ given: DockerCredential) throws {
        try keychain.transaction { transaction in
            let known = try newest(of: items(for: given.server))?.name
            let address = given.server.hasPrefix("https://") ? String(given.server.dropFirst(8)) : given.server
            let proposed = DockerLogins.prefix + (address.hasSuffix("/") ? String(address.dropLast()) : address)
            let name = if let known { known } else { try keychain.freeName(like: proposed) }
            let isEqual = try transaction.has(given.secret, under: name)
            // The transaction has read the entry, so it is retried if another process changes the attributes now.
            let former = try keychain.item(name)?.attributes
            let own = [DockerLogins.server: given.server, Login.AttributeKey.username: given.username]
            let attributes = (former ?? [:]).merging(own) { $1 }
            guard !isEqual || !attributes.isSame(as: former) else { return }
            try transaction.set(name, to: given.secret.bytes, attributes: attributes)
        }
    }

    /// Removes the logins for the registry `server`. Returns whether there were any.
    func erase(_ server: String) throws -> Bool {
        try keychain.transaction { transaction in
            let names = try items(for: server).map(\.name)
            for name in names { try transaction.remove(name) }
            return !names.isEmpty
        }
    }

    /// Returns each registry's address with its user name, sorted by address.
    func usernames() throws -> [(server: String, username: String)] {
        let items = try keychain.items(prefix: DockerLogins.prefix)
        let servers = Dictionary(grouping: items) { $0.attributes[DockerLogins.server].map(ExactText.init) }
        return servers.compactMap { server, items in
            server.map { ($0.text, newest(of: items)?.attributes[Login.AttributeKey.username] ?? "") }
        }.sorted { $0.0 < $1.0 }
    }

    /// Returns a registry's most recently modified login, which is the one to return or replace.
    private func newest(of items: [Keychain.Item]) -> Keychain.Item? { items.max { $0.modified < $1.modified } }

    private func items(for server: String) throws(VaultError) -> [Keychain.Item] {
        try keychain.items(prefix: DockerLogins.prefix, attributes: [DockerLogins.server: server])
    }
}
