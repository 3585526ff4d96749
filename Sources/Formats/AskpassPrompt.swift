import LinuxSystem

/// A prompt for the user, which a program passes to its helper in `SSH_ASKPASS`, `GIT_ASKPASS` or `SUDO_ASKPASS`.
package enum AskpassPrompt: Sendable {
    package enum GitPart: Sendable { case username, password }

    /// A request by ssh or ssh-add for a private key's passphrase, with each path that the prompt may refer to.
    case passphrase(paths: [String])
    /// A request by git for a user name or a password.
    case git(GitPart, GitCredential)
    /// A prompt that no secret can answer, such as a yes-or-no question or a report of a wrong answer.
    case unanswerable
    case other

    package init(_ prompt: String) {
        // No stored secret can answer a multi-line prompt, a yes-or-no question, or a prompt that reports a bad
        // passphrase. If the helper gave one as the answer, the program would reject it and repeat the prompt forever.
        let questions = ["yes/no", "'yes'", "y/n"]
        // Compares bytes, because Swift treats a letter followed by a combining mark as one character.
        if prompt.contains(where: \.isNewline) || prompt.utf8.starts(with: "Bad passphrase".utf8)
            || questions.contains(where: { prompt.utf8.contains($0.utf8) })
        {
            self = .unanswerable
        } else if let path = prompt.between("Enter passphrase for key '", "': ") {
            self = .passphrase(paths: [path])
        } else if let path = prompt.between("Enter passphrase for ", ": ") {
            // `ssh-add -c` appends the text below. But a file name may also end with it, so both paths are returned.
            let confirmed = path.between("", " (will confirm each use)")
            self = .passphrase(paths: [path] + (confirmed.map { [$0] } ?? []))
        } else if let address = prompt.between("Username for '", "': ").flatMap(GitCredential.init(describedAs:)) {
            self = .git(.username, address)
        } else if let address = prompt.between("Password for '", "': ").flatMap(GitCredential.init(describedAs:)) {
            self = .git(.password, address)
        } else {
            self = .other
        }
    }
}

extension GitCredential {
    /// Parses `PROTOCOL://[USERNAME@]HOST[/PATH]`, the form in which git's prompts show an address.
    ///
    /// Returns nil if the address is ambiguous. Before version 2.48, git did not escape the user name, so a name such
    /// as `github.com/` could make the address appear to belong to another host.
    fileprivate init?(describedAs address: String) {
        let parts = address.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let slash = UInt8(ascii: "/")
        let at = UInt8(ascii: "@")
        let location = parts[1].utf8.split(separator: slash, maxSplits: 1, omittingEmptySubsequences: false)
        guard let authority = location.first, !location.dropFirst().joined().contains(at) else { return nil }
        let host = authority.suffix(while: { $0 != at })
        guard !parts[0].isEmpty, !host.isEmpty else { return nil }
        self.init()
        scheme = String(parts[0])
        self.host = host.shownText
        if authority.count > host.count { username = authority.dropLast(host.count + 1).shownText }
        if location.count > 1 { path = location[1].shownText }
    }
}

extension String {
    /// Returns the text between a prefix and a suffix; nil if either is missing.
    fileprivate func between(_ start: String, _ end: String) -> String? {
        let start = start.utf8
        let end = end.utf8
        guard utf8.count >= start.count + end.count, utf8.starts(with: start),
            utf8.suffix(end.count).elementsEqual(end)
        else { return nil }
        return String(decoding: utf8.dropFirst(start.count).dropLast(end.count), as: UTF8.self)
    }
}

extension BidirectionalCollection<UInt8> {
    fileprivate func suffix(while isAccepted: (UInt8) -> Bool) -> SubSequence {
        self[(lastIndex { !isAccepted($0) }.map(index(after:)) ?? startIndex)...]
    }

    /// These bytes as text, percent-decoded if possible. Only newer versions of git percent-encode parts of an address.
    fileprivate var shownText: String { PercentEncoding.text(self) ?? String(decoding: self, as: UTF8.self) }
}
