import Formats
import Sealing

extension FuzzTarget {
    /// Private keys for an agent, prompts of ssh and git, and addresses of systemd: each input is read as all of them.
    static let ssh = FuzzTarget(name: "ssh") {
        [
            "Enter passphrase for key '/home/mia/.ssh/id_ed25519': ",
            "Enter passphrase for /home/mia/.ssh/id_ed25519 (will confirm each use): ",
            "Password for 'https://mia%40work@example.org:8443/a/b': ", "\0b3a1/unit/web@1.service/db-password",
            SSHFixture.key,
        ].map { Array($0.utf8) }
    } feed: { input, _ in
        checkPrompt(String(decoding: input, as: UTF8.self))
        if let asked = SystemdCredential(address: input) {
            check(!asked.unit.contains("/") && !asked.identifier.isEmpty, "an address names another entry")
        }
        try checkKey(SecretBytes(copyOf: input))
        // Behind the base64 is what a fuzzer changes.
        let digits = try input.withUnsafeBytes { bytes in try SecretBytes(base64Of: bytes).unsafeString() ?? "" }
        try checkKey(SecretBytes(copyOf: Array("\(SSHFixture.begin)\n\(digits)\n\(SSHFixture.end)".utf8)))
    }

    private static func checkPrompt(_ text: String) {
        switch AskpassPrompt(text) {
        case .passphrase(let paths): check(paths.allSatisfy(text.contains), "a path is not of the prompt")
        case .git(_, let address): check(address.scheme != nil && address.host != nil, "an address has no host")
        case .unanswerable, .other: break
        }
    }

    private static func checkKey(_ text: borrowing SecretBytes) throws {
        guard let file = try? SSHKeyFile(text), case .key(let key) = file else { return }
        let message = try SSHAgentMessage.adding(key, comment: key.comment, lifetime: 1, confirming: true)
        message.withBytes { bytes in check(bytes.byteCount > 4 + key.comment.utf8.count, "a message is too short") }
    }
}

private enum SSHFixture {
    static let begin = "-----BEGIN OPENSSH PRIVATE KEY-----"
    static let end = "-----END OPENSSH PRIVATE KEY-----"
    /// Made by `ssh-keygen -t ed25519 -N ''` for the tests.
    static let key = """
        \(begin)
        b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
        QyNTUxOQAAACA0PLapHlMyRlc8yC/ERYoohbrTl+6V7mgK0r2xFNdFBwAAAJC66vNtuurz
        bQAAAAtzc2gtZWQyNTUxOQAAACA0PLapHlMyRlc8yC/ERYoohbrTl+6V7mgK0r2xFNdFBw
        AAAEAsOiSQCNIgaFVGjf1r+9iru8C5Ea5/bUQMntUoC1nhwjQ8tqkeUzJGVzzIL8RFiiiF
        utOX7pXuaArSvbEU10UHAAAACm1pYUBsYXB0b3ABAgM=
        \(end)
        """
}
