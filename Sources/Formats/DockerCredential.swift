import FoundationEssentials
package import Sealing

/// A credential that docker passes to a credential helper, as JSON with `ServerURL`, `Username` and `Secret`.
package struct DockerCredential: Sendable {
    package static let sizeLimit = 1 << 20

    /// The server's name in docker's spelling, usually without a scheme, such as `registry.example.org:5000`.
    package let server: String
    /// The user's name; `<token>` if the secret is an identity token.
    package let username: String
    package let secret: HeldSecret

    private struct Members: Decodable {
        let server, username, secret: String?

        private enum CodingKeys: String, CodingKey {
            case server = "ServerURL"
            case username = "Username"
            case secret = "Secret"
        }
    }

    /// Parses the JSON. Missing members are treated as empty.
    ///
    /// - Throws: ``FormatError``; ``SealingError`` if there is no guarded memory left.
    package init(parsing text: borrowing SecretBytes) throws {
        guard text.count <= DockerCredential.sizeLimit else { throw FormatError("it is larger than 1 MiB") }
        // The decoder holds the secret in ordinary memory until this initializer returns.
        guard let members = try? JSONDecoder().decode(Members.self, from: Data(text.unsafeArray())) else {
            throw FormatError("it is not JSON with ServerURL, Username and Secret")
        }
        server = DockerCredential.trimmed(members.server ?? "")
        username = members.username ?? ""
        secret = HeldSecret(try SecretBytes(copyOf: Array((members.secret ?? "").utf8)))
    }

    /// Returns a registry's address without surrounding white space, which docker's own helpers remove too.
    package static func trimmed(_ server: String) -> String {
        String(Substring(server.utf8.trimming(while: \.isWhiteSpace)))
    }
}
