import Formats
import Glibc
import LinuxSystem
import Vault

enum AskpassCommand: Command {
    static let description = CommandDescription(
        name: .askpass, section: .helpers, changesNothing: true,
        summary: "answer a prompt of ssh, git or sudo (they run this)",
        arguments: [.init(name: "PROMPT", help: "The prompt that a user would see.")],
        details: """
            Answers only prompts that are mapped to an entry by the attribute `askpass`. If the attribute is the path \
            of a private key, the entry holds its passphrase and answers the prompts of ssh and ssh-add for that key. \
            Otherwise, the attribute is the exact prompt, such as `[sudo] password for mia: ` for `sudo -A`. git's \
            prompts are also answered from the credentials of `vault git-credential`.

            All other prompts are refused with exit code 1 and no output. Three kinds of prompts are never answered: \
            whether to trust an unknown host, whether an agent may use a key (an empty answer would mean yes), and \
            prompts repeated after a wrong passphrase.

            $SSH_ASKPASS, $GIT_ASKPASS and $SUDO_ASKPASS take a program without arguments, so set them to \
            vault-askpass, a symbolic link to `vault`. Requires OpenSSH 8.5 or later, because older versions do not \
            mark a server's questions.
            """,
        examples: [
            .init("vault askpass 'Enter passphrase for /home/mia/.ssh/id_ed25519: '", "test what ssh-add will receive")
        ],
        exitCodes: [.init(.other, "no entry or several are mapped to the prompt, or vault never answers it")])

    /// The attribute that maps an entry to a prompt.
    static let attribute = "askpass"

    static func run(_ invocation: Invocation) throws -> ExitCode {
        switch getenv("SSH_ASKPASS_PROMPT").map({ String(cString: $0) }) ?? "" {
        case "": break
        // The prompt is a notice, such as a request to touch a security key, and needs no answer.
        case "none": return .success
        default: throw CommandError.other("Yes-or-no questions are never answered.")
        }
        let name = invocation.name
        let prompt = AskpassPrompt(invocation.name)
        if case .unanswerable = prompt { throw CommandError.other("This prompt is never answered: \"\(name)\".") }
        let keychain = try invocation.openVault()
        guard
            let answer = try mappedValue(prompt, in: keychain, invocation)
                ?? gitAnswer(prompt, in: keychain, invocation)
        else { throw CommandError.other("No entry is mapped to the prompt \"\(name)\". See `vault help askpass`.") }
        return try write(answer.bytes, to: name, invocation)
    }

    private static func mappedValue(
        _ prompt: AskpassPrompt, in keychain: Keychain, _ invocation: Invocation
    ) throws -> HeldSecret? {
        let text = invocation.name
        // An absolute path in `askpass` names a private key, so a prompt that is only this path must not match.
        var texts = text.isAbsolutePath ? [] : [text]
        if case .passphrase(let paths) = prompt { texts += paths.map(absolutePath) }
        // The comparison is bytewise, because two spellings of an accented letter are equal as Swift strings.
        let accepted = Set(texts.map { Array($0.utf8) })
        let items = try keychain.items().filter { item in
            item.attributes[attribute].map { accepted.contains(Array($0.utf8)) } ?? false
        }
        guard items.count <= 1 else {
            let names = items.map(\.name).joined(separator: ", ")
            throw CommandError.other("Several entries are mapped to the prompt: \(names).")
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

    private static func write(
        _ answer: borrowing SecretBytes, to prompt: String, _ invocation: Invocation
    ) throws -> ExitCode {
        let isOneLine = answer.withUnsafeBytes { !$0.contains { byte in byte == 0 || byte == 0x0A || byte == 0x0D } }
        guard isOneLine, answer.count > 0 else {
            throw CommandError.other("The value mapped to the prompt \"\(prompt)\" is empty or has several lines.")
        }
        return try invocation.finish(answer, of: prompt, newline: .yes)
    }
}
