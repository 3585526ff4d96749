import Formats
import Vault

enum DockerCredentialCommand: Command {
    private enum Action: String, CaseIterable { case store, get, erase, list, version }

    /// The error messages that docker's client recognizes by their exact text.
    private enum Answer {
        static let notFound = "credentials not found in native keychain"
        static let noServer = "no credentials server URL"
        static let noUsername = "no credentials username"
    }

    /// An error whose message docker's helper protocol defines.
    private struct Refusal: Error { let answer: String }

    private static let program = HelperName.dockerCredential.rawValue

    static let description = CommandDescription(
        name: .dockerCredential, section: .helpers, summary: "give docker its credentials (docker runs this)",
        arguments: [.init(name: "ACTION", count: .optional, help: "`store`, `get`, `erase`, `list` or `version`.")],
        details: """
            docker, podman, buildah, skopeo and others run this command as the helper `vault`, by the name \
            docker-credential-vault, which must be in the PATH. `vault setup docker` configures docker to use it.

            Entries are stored below docker/, such as docker/registry.example.org. They are found by the attribute \
            `docker`, which is the registry's address as docker gives it, so you may rename them within docker/. The \
            user name is the attribute `username`.

            As the protocol requires, errors are also written to standard output, and the exit code is 1.
            """,
        examples: [.init("vault docker-credential list", "list the registries and user names as docker sees them")],
        exitCodes: [.init(.other, "any error")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        do {
            try perform(invocation)
            return .success
        } catch let error as Refusal {
            try StandardOutput.write(error.answer + "\n")
        } catch let error as FormatError {
            try StandardOutput.write("Malformed request from docker: \(error.problem).\n")
        } catch {
            try StandardOutput.write(CommandError(error, advising: AdvisedCommand(invocation)).message + "\n")
        }
        return .other
    }

    private static func perform(_ invocation: Invocation) throws {
        guard let word = invocation.arguments.first else {
            let actions = Action.allCases.map(\.rawValue).joined(separator: "|")
            throw Refusal(answer: "Usage: \(program) <\(actions)>")
        }
        switch Action(rawValue: word) {
        case .store: try store(invocation)
        case .get: try get(invocation)
        case .erase: try erase(invocation)
        case .list: try list(invocation)
        case .version: try StandardOutput.write("\(program) (vault) \(ToolVersion.number)\n")
        case nil: throw Refusal(answer: "Unknown credential action `\(word)`")
        }
    }

    private static func store(_ invocation: Invocation) throws {
        let request = try ValueInput.readRequest(upTo: DockerCredential.sizeLimit)
        let given = try DockerCredential(parsing: request)
        guard !given.server.isEmpty else { throw Refusal(answer: Answer.noServer) }
        guard !given.username.isEmpty else { throw Refusal(answer: Answer.noUsername) }
        let keychain = try invocation.openVault(creatingIfAbsent: true)
        try DockerLogins(keychain: keychain, invocation: invocation).store(given)
        keychain.maintenance.finishUpkeep()
    }

    private static func get(_ invocation: Invocation) throws {
        let server = try readServer()
        guard let keychain = try invocation.openVaultIfAny(),
            let found = try DockerLogins(keychain: keychain, invocation: invocation).find(server)
        else { throw Refusal(answer: Answer.notFound) }
        let answer = SecretJSON.object([
            "ServerURL": .text(server), "Username": .text(found.username), "Secret": .secret(found.secret),
        ])
        try StandardOutput.write(answer)
    }

    private static func erase(_ invocation: Invocation) throws {
        let server = try readServer()
        guard let keychain = try invocation.openVaultIfAny(),
            try DockerLogins(keychain: keychain, invocation: invocation).erase(server)
        else { throw Refusal(answer: Answer.notFound) }
        keychain.maintenance.finishUpkeep()
    }

    private static func list(_ invocation: Invocation) throws {
        let logins =
            try invocation.openVaultIfAny().map { try DockerLogins(keychain: $0, invocation: invocation).usernames() }
            ?? []
        try StandardOutput.write(SecretJSON.object(logins.map { ($0.server, .text($0.username)) }))
    }

    private static func readServer() throws -> String {
        let request = try ValueInput.readRequest(upTo: DockerCredential.sizeLimit)
        // Docker's request is the address of a registry. It is not secret, so it may be an ordinary string.
        guard let text = request.unsafeString() else { throw FormatError("it is not UTF-8") }
        let server = DockerCredential.trimmed(text)
        guard !server.isEmpty else { throw Refusal(answer: Answer.noServer) }
        return server
    }
}
