import Formats
import Glibc
import LinuxSystem
import Vault

enum SSHAddCommand: Command {
    static let description = CommandDescription(
        name: .sshAdd, section: .helpers, changesNothing: true, summary: "add a private key to the running SSH agent",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The name of the private key.")],
        options: [
            .init(
                name: .lifetime, short: "t", value: "TIME",
                help: "Remove the key from the agent after this time, such as 90, 15m, 8h or 7d."),
            .init(name: .confirm, short: "c", help: "Have the agent ask before each use of the key."),
        ],
        details: """
            Sends the key from the vault to the agent's socket, $SSH_AUTH_SOCK, without a file or another program. \
            `ssh-add -l` then lists the key, and `ssh-add -d` removes it.

            Store the key with `vault set NAME --file FILE`. It must be an OpenSSH key of type ed25519, rsa or ecdsa, \
            and have no passphrase, since the vault seals it. `ssh-keygen -p -N '' -f FILE` removes a passphrase, and \
            converts an older format.
            """,
        examples: [
            .init("vault ssh-add -t 8h ssh/laptop", "add a key for a working day"),
            .init("vault ssh-add -c ssh/laptop", "confirm each use of the key"),
        ],
        exitCodes: [
            .init(.usage, "the value is not an OpenSSH private key, or has a passphrase"),
            .init(.notFound, "no such name; a similar one is suggested"),
            .init(.refused, "the agent refuses the key"),
            .init(.inputOutput, "no agent is running"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let lifetime = try lifetime(invocation)
        let key = try key(of: invocation)
        let comment = key.comment.isEmpty ? invocation.name : key.comment
        let message = try SSHAgentMessage.adding(
            key, comment: comment, lifetime: lifetime, confirming: invocation.has(.confirm))
        try send(message)
        let json: JSONObject = [
            "name": invocation.name, "type": key.type.rawValue, "comment": comment, "lifetime": lifetime,
            "confirms": invocation.has(.confirm),
        ]
        return try invocation.finish(json: json)
    }

    /// Returns the key's lifetime in seconds, which the agent's protocol limits to 32 bits.
    private static func lifetime(_ invocation: Invocation) throws(UsageError) -> UInt32? {
        guard let duration = try invocation.duration(of: .lifetime) else { return nil }
        guard let seconds = UInt32(exactly: duration.components.seconds) else { throw .badDuration(.lifetime) }
        return seconds
    }

    private static func key(of invocation: Invocation) throws -> SSHKey {
        let keychain = try invocation.openVault()
        let name = invocation.name
        guard let value = try invocation.reading(name, from: keychain) else { throw keychain.absent(name) }
        let file: SSHKeyFile
        do { file = try SSHKeyFile(value.bytes) } catch let error as FormatError {
            throw CommandError.invalid("The value of \"\(name)\" is not a valid private key: \(error.problem).")
        }
        switch consume file {
        case .key(let key): return key
        case .encrypted:
            throw CommandError.invalid(
                "The key \"\(name)\" has a passphrase. The vault seals it, so it needs none. Remove the "
                    + "passphrase with `ssh-keygen -p -N '' -f FILE`, and store FILE again.")
        case .otherFormat:
            throw CommandError.invalid(
                "The key \"\(name)\" is not in OpenSSH's format. Convert the file with `ssh-keygen -p -N '' -f FILE`, "
                    + "and store it again.")
        case .unsupported:
            let types = SSHKey.KeyType.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandError.invalid("The key \"\(name)\" has an unsupported type. Supported types: \(types).")
        }
    }

    private static func send(_ message: borrowing SecretBytes) throws(CommandError) {
        guard let path = getenv("SSH_AUTH_SOCK").map({ String(cString: $0) }), !path.isEmpty else {
            throw CommandError.unavailable(
                "No SSH agent is running (SSH_AUTH_SOCK is not set). Start one with `eval $(ssh-agent)`.")
        }
        let answer: [UInt8]
        var isOthers = false
        do throws(SystemError) {
            let agent = try LocalSocket(connectingTo: path)
            isOthers = try !agent.peer.isTrustworthy
            answer = isOthers ? [] : try ask(agent, message)
        } catch { throw .system("The SSH agent at \(path) does not answer", error.number) }
        guard !isOthers else {
            throw .refused(
                "The SSH agent at \(path) belongs to another user, who could use the key. Start your own agent with "
                    + "`eval $(ssh-agent)`.")
        }
        guard SSHAgentMessage.isSuccess(answer) else {
            throw .refused("The SSH agent at \(path) refused the key. If it is locked, unlock it with `ssh-add -X`.")
        }
    }

    private static func ask(
        _ agent: borrowing LocalSocket, _ message: borrowing SecretBytes
    ) throws(SystemError) -> [UInt8] {
        try message.withUnsafeBytes { (message) throws(SystemError) in try agent.send(message) }
        return try agent.receive(SSHAgentMessage.answerSize)
    }
}
