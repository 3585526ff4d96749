import CLinux
import FoundationEssentials
import Glibc
import Testing

@testable import SealedLog
@testable import Vault
@testable import VaultCommand

@Suite struct OutputTests {
    @Test(arguments: [
        ("tok", ValueForm.Newline.auto, false, nil as String?),
        ("tok", .no, false, nil),
        ("tok", .yes, false, "tok\n"),
        ("tok\n", .yes, false, "tok\n\n"),
        ("tok", .auto, true, "tok\n"),
        ("tok\n", .auto, true, "tok\n"),
        ("tok", .no, true, "tok"),
        ("\u{1b}c", .auto, true, "\\x1bc\n"),
        ("\u{1b}c", .yes, false, "\u{1b}c\n"),
        ("", .auto, true, "\n"),
    ])
    func aValueTakesTheFormOfItsDestination(
        value: String, newline: ValueForm.Newline, onTerminal: Bool, expected: String?
    ) throws {
        let form = ValueForm(newline: newline, isOnTerminal: onTerminal)
        #expect(try text(form.rendered(SecretBytes(utf8: value))) == expected)
    }

    @Test func aValueInJSON() throws {
        let plain = try ValueForm.json(SecretBytes(utf8: "a\"b\\c\n\u{1b}"), name: "n\"1")
        #expect(plain.unsafeString() == #"{"name":"n\"1","value":"a\"b\\c\n\u001b"}"#)
        let bytes = try ValueForm.json(SecretBytes(copying: [0xFF, 0x00]), name: "n")
        #expect(bytes.unsafeString() == #"{"name":"n","value_base64":"/wA="}"#)
        let empty = try ValueForm.json(SecretBytes(utf8: ""), name: "n")
        #expect(empty.unsafeString() == #"{"name":"n","value":""}"#)
    }

    @Test func anErrorInJSON() throws {
        let error = CommandError(code: "locked", exit: .locked, message: "The key in ~/k \u{1b}is wrong.")
        #expect(
            try JSONObject(dictionaryLiteral: ("error", error)).line()
                == #"{"error":{"code":"locked","exit":5,"message":"The key in ~/k \u001bis wrong."}}"# + "\n")
    }

    @Test func keysAreSortedAndNamesKeptAsTheyAre() throws {
        #expect(
            try SetCommand.report(name: "ssh/key", size: 3, .replaced, expires: nil).line()
                == #"{"expires":null,"name":"ssh/key","replaced":true,"size":3,"stored":true}"# + "\n")
        // A key that a person chose is not respelled.
        let attributes: JSONObject = ["attributes": ["hostName": "\u{9b}x"]]
        #expect(try attributes.line() == #"{"attributes":{"hostName":"\u009bx"}}"# + "\n")
    }

    @Test func whatIsWrittenInJSONIsDocumented() throws {
        let reports: [(String, JSONObject)] = [
            ("set", SetCommand.report(name: "n", size: 1, .stored, expires: nil)),
            ("exists", ExistsCommand.report(name: "n", exists: true)),
            ("rm", RemoveCommand.report(removed: [])),
            ("mv, cp", Relocation.report(from: "a", to: "b", entries: 1)),
            ("init", Keychain.Created.sample().json(at: .sample)),
            ("verify", VerifyCommand.report(VerificationReport(entries: 1, records: 2, bytes: 3))),
            ("compact", CompactCommand.report(CompactionReport(sizeBefore: 2, sizeAfter: 1))),
            ("version", VersionCommand.report),
            ("help", HelpCommand.report),
        ]
        for (command, report) in reports {
            // The line that begins with the command, and those that go on with it.
            let lines = HelpTopic.jsonText.split(separator: "\n").drop { !$0.hasPrefix("  \(command) ") }
            let line = try #require(lines.first) + lines.dropFirst().prefix { $0.hasPrefix("     ") }.joined()
            let json = try report.line()
            for key in report.members.keys {
                #expect(json.contains("\"\(key)\":"), "\(command)")
                #expect(line.contains("\"\(key)\""), "\(command)")
            }
        }
    }

    @Test func newVaultsAreAnnouncedWithTheirKeys() {
        let plain = """
            Created a new vault: /v
            Created its key file: /k
            Back up the key file, separately from the vault. Without it the vault cannot be opened.
            Never change the key file.
            """
        #expect(Keychain.Created.sample().message(at: .sample) == plain)
        let beside =
            "\nIt is next to the vault, so a copy of the folder contains both. See `vault help locations` for other locations."
        #expect(Keychain.Created.sample(isBesideVault: true).message(at: .sample) == plain + beside)
        #expect(
            Keychain.Created.sample(isShort: true).message(at: .sample)
                == plain + "\nThe key has fewer than 16 bytes and can be guessed.")
    }

    @Test func aWriteThatFailsSaysWhy() {
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        #expect([1, 2, 3].withUnsafeBytes { SystemCall.writeAll($0, to: full) } == ENOSPC)
    }

    @Test func theProcessIsHardened() {
        let coreSize = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        var formerLimit = rlimit()
        var limit = rlimit()
        var formerActions = [SIGPIPE, SIGXFSZ].map { number in
            var action = sigaction()
            sigaction(number, nil, &action)
            return (number, action)
        }
        getrlimit(coreSize, &formerLimit)
        let formerDumpable = vault_set_dumpable(1)
        let formerMask = umask(0o022)
        defer {
            setrlimit(coreSize, &formerLimit)
            _ = vault_set_dumpable(formerDumpable)
            umask(formerMask)
            for index in formerActions.indices { sigaction(formerActions[index].0, &formerActions[index].1, nil) }
        }
        let ignoredClosedPipes = ProcessState.isIgnored(SIGPIPE)
        #expect(ProcessState.harden() != ignoredClosedPipes)
        getrlimit(coreSize, &limit)
        #expect(limit.rlim_cur == 0)
        #expect(limit.rlim_max == formerLimit.rlim_max)
        #expect(vault_set_dumpable(0) == 0)
        #expect(umask(0o077) == 0o077)
        #expect(ProcessState.isIgnored(SIGPIPE) && ProcessState.isIgnored(SIGXFSZ))
        #expect(!ProcessState.harden(), "a closed pipe does not end a process that ignores the signal")
        // What the command sets before the runtime starts is for no other program.
        #expect(getenv("SWIFT_BACKTRACE").map { !String(cString: $0).contains("swift-backtrace=/") } ?? true)
    }

    private func text(_ secret: consuming SecretBytes?) -> String? {
        guard let secret else { return nil }
        return secret.unsafeString()
    }
}

extension Keychain.Created {
    fileprivate static func sample(isBesideVault: Bool = false, isShort: Bool = false) -> Self {
        Self(vault: true, keyFile: true, keyFileIsBesideVault: isBesideVault, keyFileIsShort: isShort)
    }
}

extension VaultLocation {
    fileprivate static let sample = VaultLocation(vault: "/v", keyFile: "/k", rollbackMemory: nil)
}
