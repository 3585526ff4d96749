/// What a program asks for that runs another one for a person's answer: `SSH_ASKPASS`, `GIT_ASKPASS` or `SUDO_ASKPASS`.
package enum AskpassPrompt: Sendable {
    package enum GitPart: Sendable { case username, password }

    /// ssh and ssh-add ask for the passphrase of a private key. The prompt may be read as more than one
    /// path.
    case passphrase(paths: [String])
    /// git asks for a part of a credential.
    case git(GitPart, GitCredential)
    /// The answer before was wrong, or it is a question of yes or no, such as ssh's about an unknown host.
    case unanswerable
    case other

    package init(_ prompt: String) {
        // In these forms a stored secret is never what is asked for. One that is handed over all the same goes to the
        // parser of a question, which asks again without an end.
        let questions = ["yes/no", "'yes'", "y/n"]
        // By bytes: a mark that follows a letter makes another character of it.
        if prompt.contains(where: \.isNewline) || prompt.utf8.starts(with: "Bad passphrase".utf8)
            || questions.contains(where: { prompt.utf8.contains($0.utf8) })
        {
            self = .unanswerable
        } else if let path = prompt.between("Enter passphrase for key '", "': ") {
            self = .passphrase(paths: [path])
        } else if let path = prompt.between("Enter passphrase for ", ": ") {
            // So does `ssh-add -c` ask, but a file may have such a name too.
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
    /// Reads `PROTOCOL://[USERNAME@]HOST[/PATH]`, as git shows to a person what it asks for.
    ///
    /// nil for what may be read in two ways. A git before 2.48 escapes nothing: by a user name such as `github.com/`,
    /// an address could look like one of another host.
    fileprivate init?(describedAs address: String) {
        let parts = address.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let (slash, at) = (UInt8(ascii: "/"), UInt8(ascii: "@"))
        let rest = parts[1].utf8.split(separator: slash, maxSplits: 1, omittingEmptySubsequences: false)
        guard let authority = rest.first, !rest.dropFirst().joined().contains(at) else { return nil }
        let host = authority.suffix(while: { $0 != at })
        guard !parts[0].isEmpty, !host.isEmpty else { return nil }
        self.init()
        (scheme, self.host) = (String(parts[0]), host.shownText)
        if authority.count > host.count { username = authority.dropLast(host.count + 1).shownText }
        if rest.count > 1 { path = rest[1].shownText }
    }
}

extension String {
    /// Returns what stands between a beginning and an end; nil if the text does not have both.
    fileprivate func between(_ start: String, _ end: String) -> String? {
        let (start, end) = (start.utf8, end.utf8)
        guard utf8.count >= start.count + end.count, utf8.starts(with: start),
            utf8.suffix(end.count).elementsEqual(end)
        else { return nil }
        return String(decoding: utf8.dropFirst(start.count).dropLast(end.count), as: UTF8.self)
    }
}

extension BidirectionalCollection<UInt8> {
    /// Returns the last bytes, up to one that is not accepted.
    fileprivate func suffix(while isAccepted: (UInt8) -> Bool) -> SubSequence {
        self[(lastIndex { !isAccepted($0) }.map(index(after:)) ?? startIndex)...]
    }

    /// The text that git shows, which may escape it, or not.
    fileprivate var shownText: String { PercentEncoding.text(self) ?? String(decoding: self, as: UTF8.self) }
}
