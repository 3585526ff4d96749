import Testing

@testable import Formats

@Suite struct AskpassPromptTests {
    private func paths(_ prompt: String) -> [String]? {
        if case .passphrase(let paths) = AskpassPrompt(prompt) { paths } else { nil }
    }

    @Test(arguments: [
        ("Enter passphrase for /k: ", ["/k"]), ("Enter passphrase for key '/k': ", ["/k"]),
        ("Enter passphrase for /k (will confirm each use): ", ["/k (will confirm each use)", "/k"]),
        ("Enter passphrase for it's: ", ["it's"]), ("Enter passphrase for key 'it's': ", ["it's"]),
    ])
    func aPromptNamesTheFileOfAKey(prompt: String, paths: [String]) {
        #expect(self.paths(prompt) == paths)
    }

    @Test(arguments: [
        "", ":", "Enter passphrase: ", "Enter passphrase for /k", " Enter passphrase for /k: ",
        "(mia@host) Enter passphrase for /k: ", "mia@host's password: ", "Enter passphrase fór /k: ",
    ])
    func anyOtherPromptNamesNone(prompt: String) {
        #expect(paths(prompt) == nil)
    }

    @Test(arguments: [
        "Bad passphrase, try again for /k: ", "x (yes/no)? ", "Please type 'yes', 'no' or the fingerprint: ",
        "Enter passphrase for /k: \n", "a\rb", "a\r\nb", "a\u{2028}b",
    ])
    func aQuestionIsNeverAnswered(prompt: String) {
        if case .unanswerable = AskpassPrompt(prompt) { return }
        Issue.record("may be answered")
    }

    @Test(arguments: [
        ("https://example.org", "https||example.org|"),
        ("https://mia@example.org:8443/a/b", "https|mia|example.org:8443|a/b"),
        ("https://mia%40work@example.org", "https|mia@work|example.org|"), ("https://mia@work@h", "https|mia@work|h|"),
        ("smtp://100%@h", "smtp|100%|h|"), ("https://%zz%4@h%2", "https|%zz%4|h%2|"),
        ("https://a%+5@h%FF", "https|a%+5|h%FF|"), ("cert://h/k%2fl", "cert||h|k/l"),
    ])
    func gitShowsTheAddress(address: String, parts: String) throws {
        guard case .git(.password, let found) = AskpassPrompt("Password for '\(address)': ") else {
            Issue.record("not read")
            return
        }
        #expect(
            [found.scheme, found.username, found.host, found.path].map { $0 ?? "" }.joined(separator: "|") == parts)
    }

    @Test(arguments: ["", "h", "://h", "https://", "https:///p", "https://@", "https://a/b@h", "https://u@a/@h"])
    func anAddressThatMayBeReadInTwoWaysIsNone(address: String) {
        if case .git = AskpassPrompt("Username for '\(address)': ") { Issue.record("read as an address") }
    }
}

@Suite struct SystemdCredentialTests {
    @Test func systemdSaysWhatItAsksFor() {
        let found = SystemdCredential(address: Array("\0b3a1/unit/web@1.service/db-password".utf8))
        #expect(found?.unit == "web@1.service" && found?.identifier == "db-password")
    }

    @Test(arguments: [
        "", "\0", "b3a1/unit/a/b", "\0/unit/a/b", "\0x/unit//b", "\0x/unit/a/", "\0x/unit/a", "\0x/unit/a/b/c",
        "\0x/Unit/a/b", "\0x/unit/a/b/",
    ])
    func anotherAddressIsNone(text: String) {
        #expect(SystemdCredential(address: Array(text.utf8)) == nil)
        #expect(SystemdCredential(address: Array("\0x/unit/a/".utf8) + [0xFF]) == nil)
    }
}
