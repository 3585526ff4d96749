import Formats
import Vault

enum GitCredentialCommand: Command {
    private enum Operation: String { case get, store, erase, capability }

    static let description = CommandDescription(
        name: .gitCredential, section: .helpers, summary: "give git its credentials (git runs this)",
        arguments: [.init(name: "OPERATION", help: "`get`, `store`, `erase` or `capability`. Others are ignored.")],
        details: """
            git runs this command as the helper `vault`, by the name git-credential-vault, and writes the request to \
            the command's standard input. `vault setup git` configures git to use it.

            Entries are stored below git/, such as git/github.com/mia. They are found by their attributes (protocol, \
            host, path and username), so you may rename them within git/. A refresh token is an entry of its own, \
            git/github.com/mia.refresh-token.

            Without a vault or a matching entry, the command prints nothing, and git asks the next helper, or you. A \
            vault that is locked or damaged is an error.
            """,
        examples: [
            .init("printf 'protocol=https\\nhost=github.com\\n' | vault git-credential get", "show what git receives")
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        switch Operation(rawValue: invocation.name) {
        case .get: try get(invocation)
        case .store: try store(invocation)
        case .erase: try erase(invocation)
        case .capability: try StandardOutput.write("version 0\ncapability \(GitCredential.authtypeCapability)\n")
        // Operations that later versions of git may add are ignored.
        case nil: break
        }
        return .success
    }

    private static func get(_ invocation: Invocation) throws {
        let request = try readRequest()
        guard let keychain = try invocation.openVaultIfAny(),
            let found = try GitLogins(keychain: keychain, invocation: invocation).find(request)
        else { return }
        do { try found.write { _ in } } catch {
            throw CommandError.invalid("The entry cannot be passed to git: \(error.problem).")
        }
        // `found.write` has already succeeded above, so it cannot fail here.
        try StandardOutput.write(SecretBytes(composing: { put in try? found.write(put) }))
    }

    private static func store(_ invocation: Invocation) throws {
        let given = try readRequest()
        guard given.kept != nil else { return }
        let keychain = try invocation.openVault(creatingIfAbsent: true)
        try GitLogins(keychain: keychain, invocation: invocation).store(given)
        keychain.maintenance.finishUpkeep()
    }

    private static func erase(_ invocation: Invocation) throws {
        let request = try readRequest()
        guard let keychain = try invocation.openVaultIfAny() else { return }
        try GitLogins(keychain: keychain, invocation: invocation).erase(request)
        keychain.maintenance.finishUpkeep()
    }

    private static func readRequest() throws -> GitCredential {
        let request = try ValueInput.readRequest(upTo: GitCredential.sizeLimit, until: GitCredential.isComplete)
        do { return try GitCredential(parsing: request) } catch let error as FormatError {
            let line = error.line.map { "line \($0): " } ?? ""
            throw CommandError.invalid("Malformed request from git: \(line)\(error.problem).")
        }
    }
}
