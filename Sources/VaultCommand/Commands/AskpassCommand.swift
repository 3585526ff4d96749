import Formats
import Glibc
import LinuxSystem
import Sealing
import Vault

enum AskpassCommand: Command {
    static let description = CommandDescription(
        name: .askpass, summary: "answer a prompt of ssh, git or sudo (they run this)",
        arguments: [.init(name: "PROMPT", help: "What a person would be asked.")],
        details: [
            """
            Answers only prompts that an entry is mapped to, by the attribute `askpass`. If it is a path, the entry \
            has the passphrase of this private key, and answers the prompts of ssh and ssh-add for it. Anything else \
            is the prompt itself, letter by letter, such as `[sudo] password for mia: ` for `sudo -A`. git's prompts \
            are answered from the credentials of `vault git-credential` too.
            """,
            """
            All other prompts are refused: exit code 1, and nothing is written. So are the question whether an unknown \
            host is to be trusted, the question whether an agent may use a key (an empty answer would be a yes), and a \
            repetition after a wrong passphrase.
            """,
            """
            $SSH_ASKPASS, $GIT_ASKPASS and $SUDO_ASKPASS take a program without arguments: vault-askpass, a symbolic \
            link to `vault`. OpenSSH 8.5 or later is needed: older ones show a server's own questions unmarked.
            """,
        ],
        examples: [
            .init("vault askpass 'Enter passphrase for /home/mia/.ssh/id_ed25519: '", "try what ssh-add would get")
        ],
        exitCodes: [.init(.other, "no entry is mapped to the prompt, several are, or it is never answered")])

    /// The attribute that maps an entry to a prompt.
    static let attribute = "askpass"

    static func run(_ invocation: Invocation) throws -> ExitCode {
        switch getenv("SSH_ASKPASS_PROMPT").map({ String(cString: $0) }) ?? "" {
        case "": break
        // A notice, such as the request to touch a security key.
        case "none": return .success
        default: throw refused("A question of yes or no is never answered.")
        }
        let (name, prompt) = (invocation.name, AskpassPrompt(invocation.name))
        if case .unanswerable = prompt { throw refused("This prompt is never answered: \"\(name)\".") }
        let keychain = try invocation.openVault()
        guard
            let answer = try mappedValue(prompt, in: keychain, invocation)
                ?? gitAnswer(prompt, in: keychain, invocation)
        else {
            throw refused("No entry is mapped to the prompt \"\(name)\". See `vault help askpass`.")
        }
        return try write(answer.bytes, to: name, invocation)
    }

    private static func refused(_ message: String) -> CommandError {
        CommandError(code: "other", exit: .other, message: message)
    }

    // MARK: Looking it up

    private static func mappedValue(
        _ prompt: AskpassPrompt, in keychain: Keychain, _ invocation: Invocation
    ) throws -> HeldSecret? {
        let text = invocation.name
        // A path is no prompt.
        var texts = text.isAbsolutePath ? [] : [text]
        if case .passphrase(let paths) = prompt { texts += paths.map(absolutePath) }
        // Compared as bytes: as strings, two spellings of an accented letter are equal.
        let accepted = Set(texts.map { Array($0.utf8) })
        let items = try keychain.items().filter { item in
            item.attributes[attribute].map { accepted.contains(Array($0.utf8)) } ?? false
        }
        guard items.count <= 1 else {
            throw refused("Several entries are mapped to the prompt: \(items.map(\.name).joined(separator: ", ")).")
        }
        return try items.first.flatMap { item in try invocation.held(item.name, from: keychain) }
    }

    private static func gitAnswer(
        _ prompt: AskpassPrompt, in keychain: Keychain, _ invocation: Invocation
    ) throws -> HeldSecret? {
        guard case .git(let part, let request) = prompt else { return nil }
        guard let found = try GitLogins(keychain: keychain, invocation: invocation).find(request) else { return nil }
        switch part {
        case .username: return try found.username.map { text in HeldSecret(try SecretBytes(utf8: text)) }
        case .password: return found.password
        }
    }

    // MARK: Answering

    private static func write(
        _ answer: borrowing SecretBytes, to prompt: String, _ invocation: Invocation
    ) throws -> ExitCode {
        let isOneLine = answer.withUnsafeBytes { !$0.contains { byte in byte == 0 || byte == 0x0A || byte == 0x0D } }
        guard isOneLine, answer.count > 0 else {
            throw refused("What is mapped to the prompt \"\(prompt)\" is empty or no single line.")
        }
        guard invocation.wantsJSON else {
            try ValueForm(newline: .yes).write(answer)
            return .success
        }
        try ValueForm.json(answer, name: prompt).withUnsafeBytes(StandardOutput.write)
        try StandardOutput.write("\n")
        return .success
    }
}
