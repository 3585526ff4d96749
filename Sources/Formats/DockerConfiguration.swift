import FoundationEssentials

/// Docker's `config.json`. If no credential helper is configured, `docker login` stores passwords in this file.
package enum DockerConfiguration {
    /// The user name that docker's helper protocol uses for an identity token.
    private static let tokenUser = "<token>"

    package static func items(in text: [UInt8]) throws(FormatError) -> ImportedItems {
        let root = try JSONNode(parsing: text)
        guard let servers = try root.members()["auths"]?.members() else {
            throw FormatError(line: root.line, "it is not docker's config.json: \"auths\" is missing")
        }
        var found = ImportedItems()
        for (server, node) in servers.sorted(by: { $0.key < $1.key }) {
            if let item = try item(for: server, node) {
                found.items.append(item)
            } else {
                found.leftOut.append(.helpedServer)
            }
        }
        return found
    }

    /// Returns a server's login; nil if the file contains only the server's name because a helper stores the password.
    private static func item(for server: String, _ node: JSONNode) throws(FormatError) -> ImportedItem? {
        let members = try node.members()
        var username = try members.string("username")
        var password = try members.string("password")
        if let text = try members.string("auth"), !text.isEmpty {
            guard let data = Data(base64Encoded: text), let pair = String(validating: data, as: UTF8.self),
                let colon = pair.utf8.firstIndex(of: UInt8(ascii: ":"))
            else { throw FormatError(line: members["auth"]?.line, "auth is not the base64 of USER:PASSWORD") }
            username = String(pair[..<colon])
            // Zero bytes are dropped, because docker ignores zero bytes around a password.
            password = String(pair[pair.utf8.index(after: colon)...].filter { $0 != "\0" })
        }
        if let token = try members.string("identitytoken"), !token.isEmpty {
            username = tokenUser
            password = token
        }
        guard let password, !password.isEmpty else { return nil }
        let address = server.hasPrefix("https://") ? server.dropFirst("https://".count) : server[...]
        let parts = address.split(separator: "/").map(String.init)
        var item = ImportedItem(title: parts.last ?? server, line: node.line)
        item.folder = (["docker"] + parts.dropLast()).joined(separator: "/")
        item.username = username
        item.password = password
        item.add("docker", server)
        return item
    }
}
