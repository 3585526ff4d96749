import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import Age

/// Each test starts `Plugins/age-plugin-vaulttest`, by a name that says how it behaves.
@Suite("Plugins", .disabled(if: TestPlugin.obstacle != nil, "\(TestPlugin.obstacle ?? "")"))
struct PluginTests {
    private let fileKey = RandomBytes.array(FileKey.size)

    private func wrapped(_ mode: String, _ prompter: any PluginPrompter = NoPrompts()) throws -> [Stanza] {
        try TestPlugin(mode).withPlugin(prompter) { plugin in
            try plugin.wrap(SecretBytes(copyOf: fileKey), to: "age1vaulttest1wfjkx6tsd9jkuaq3vz405")
        }
    }

    private func unwrapped(
        _ stanzas: [Stanza], _ mode: String, _ prompter: any PluginPrompter = NoPrompts()
    ) throws -> [UInt8]? {
        let identity = try SecretBytes(copyOf: Array("AGE-PLUGIN-VAULTTEST-1D9JX2MN5D968JE5MZ20".utf8))
        return try TestPlugin(mode).withPlugin(prompter) { plugin in
            guard let key = try plugin.unwrap(stanzas, with: identity) else { return nil }
            return key.unsafeArray()
        }
    }

    /// The words and bodies of the answers that the plugin got, which it repeats in its stanza.
    private func answers(in stanzas: [Stanza]) throws -> String {
        let digits = try #require(stanzas.first?.arguments.last)
        let padding = String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4)
        return String(decoding: try #require(Data(base64Encoded: digits + padding)), as: UTF8.self)
    }

    @Test func unwrapWhatTheyWrapped() throws {
        let stanzas = try wrapped("plain")
        #expect(stanzas.map(\.arguments) == [["vaulttest", "3vz405"]])
        let other = try Stanza(arguments: ["other", "x"], body: [UInt8](repeating: 1, count: 500))
        #expect(try unwrapped([other] + stanzas, "plain") == fileKey)
        #expect(try unwrapped([other], "plain") == nil)
        #expect(try unwrapped([], "plain") == nil)
    }

    @Test func areAnsweredAsThePersonAnswers() throws {
        let prompter = Person(confirms: [true, false])
        let stanzas = try wrapped("talks", prompter)
        #expect(
            prompter.heard == [
                "message: touch the key\u{FFFD}[2J\u{FFFD}", "confirm: sure? go on/stop", "confirm: really? go on/-",
                "public: name?", "secret: PIN?",
            ])
        #expect(try answers(in: stanzas) == "ok ok yes ok no ok ok|Ada|4321")
        #expect(try unwrapped(stanzas, "talks", Person(confirms: [true, false])) == fileKey)
        // The mask comes from all of the answers.
        #expect(try unwrapped(stanzas, "talks", Person(confirms: [true, true])) != fileKey)
        #expect(try unwrapped(stanzas, "talks", Person(confirms: [true, false], secret: "4322")) != fileKey)
        #expect(try unwrapped(stanzas, "talks", NoPrompts()) != fileKey)
    }

    @Test func areToldThatNobodyAnswers() throws {
        let stanzas = try wrapped("talks", NoPrompts())
        #expect(try answers(in: stanzas) == "fail fail fail fail fail||")
        #expect(try unwrapped(stanzas, "talks", NoPrompts()) == fileKey)
    }

    @Test func mayUseCommandsThatAreUnknown() throws {
        let stanzas = try wrapped("grease")
        #expect(try unwrapped(stanzas, "grease") == fileKey)
    }

    private static let failures: [(mode: String, reason: String)] = [
        ("fails", "reports \"no card \u{FFFD}[31m\\\"inserted\\\"\""),
        ("dies", "ended before it had finished (exit status 3)"),
        ("killed", "ended before it had finished (signal 9)"),
        ("garbage", "does not follow the protocol: a stanza does not start with \"-> \""),
        ("endless", "does not follow the protocol: it sent a message that is too large"),
        ("spam", "does not follow the protocol: it sent too many messages"),
        ("bad-question", "does not follow the protocol: an invalid question"),
    ]

    @Test(arguments: failures) func thatFailAreReportedWithTheirReason(_ mode: String, _ reason: String) throws {
        let expected = AgeError(.plugin, "the plugin age-plugin-vaulttest-\(mode) \(reason)")
        #expect(try failure { _ = try wrapped(mode) } == expected)
        #expect(try failure { _ = try unwrapped([], mode) } == expected)
    }

    private static let unasked: [(mode: String, wrapping: String?, unwrapping: String?)] = [
        ("silent", "it sent no stanza", nil),
        ("other-index", "it sent an unexpected stanza", "it sent an unexpected file key"),
        ("many", "it sent an unexpected stanza", "it sent an unexpected file key"),
        ("short", nil, "it sent an unexpected file key"),
    ]

    @Test(arguments: unasked)
    func thatSendWhatWasNotAskedForAreRefused(_ mode: String, _ wrapping: String?, _ unwrapping: String?) throws {
        let start = "the plugin age-plugin-vaulttest-\(mode) does not follow the protocol: "
        if let wrapping {
            #expect(try failure { _ = try wrapped(mode) } == AgeError(.plugin, start + wrapping))
        }
        let stanzas = try wrapped("plain")
        if let unwrapping {
            #expect(try failure { _ = try unwrapped(stanzas, mode) } == AgeError(.plugin, start + unwrapping))
        } else {
            #expect(try unwrapped(stanzas, mode) == nil)
        }
    }

    @Test func thatReportAnErrorAfterTheFileKeyHaveUnwrapped() throws {
        #expect(try unwrapped(wrapped("plain"), "fails-late") == fileKey)
        let other = try Stanza(arguments: ["other"], body: [])
        let error = try failure { _ = try unwrapped([other], "fails-late") }
        #expect(error == AgeError(.plugin, "the plugin age-plugin-vaulttest-fails-late reports \"too late\""))
    }

    /// More than the socket holds, so that it is written to when there is nobody left. SIGPIPE would end the tests.
    @Test func thatDoNotListenAreAnErrorAndNoSignal() throws {
        let stanza = try Stanza(arguments: ["other"], body: [UInt8](repeating: 0, count: 1 << 20))
        let error = try failure { _ = try unwrapped([stanza], "deaf") }
        let reason = "the plugin age-plugin-vaulttest-deaf ended before it had finished (exit status 0)"
        #expect(error == AgeError(.plugin, reason))
    }

    /// Either side has more to write than the socket holds.
    @Test(.timeLimit(.minutes(10))) func thatWriteAndDoNotReadAreNotWaitedFor() throws {
        let large = try Stanza(arguments: ["other"], body: [UInt8](repeating: 7, count: 1 << 20))
        let error = try failure { _ = try unwrapped([large], "floods") }
        let reason = "does not follow the protocol: it sent a message that is too large"
        #expect(error == AgeError(.plugin, "the plugin age-plugin-vaulttest-floods \(reason)"))
    }

    @Test(.timeLimit(.minutes(10))) func thatWriteBeforeTheyReadAreHeard() throws {
        let stanzas = try wrapped("plain")
        let large = try Stanza(arguments: ["other"], body: [UInt8](repeating: 7, count: 1 << 20))
        let prompter = Person(confirms: [])
        #expect(try unwrapped([large] + stanzas, "talks-first", prompter) == fileKey)
        #expect(prompter.heard.map(\.last) == "abcdefghijkl".map(Character?.some))
    }

    @Test func thatAreSilentAreToldOnce() throws {
        for (patience, expected) in [(Duration.milliseconds(50), ["waiting"]), (.seconds(20), [])] {
            let prompter = Person(confirms: [])
            _ = try TestPlugin("sleeps").withPlugin(prompter) { plugin in
                var plugin = plugin
                plugin.patience = patience
                return try plugin.wrap(SecretBytes(copyOf: fileKey), to: "age1vaulttest1wfjkx6tsd9jkuaq3vz405")
            }
            #expect(prompter.heard == expected)
        }
    }

    @Test func thatDoNotEndAreEnded() throws {
        #expect(try unwrapped(wrapped("plain"), "stubborn") == fileKey)
    }

    @Test(.disabled(if: MemoryScan.obstacle != nil, "\(MemoryScan.obstacle ?? "")"))
    func leaveNothingOfFileKeysAndIdentitiesInMemory() async {
        await #expect(processExitsWith: .success) {
            let fileKey = try FileKey.generate()
            // A text that no plugin looks at, in characters that may stand in a stanza.
            var identity = try SecretBytes.random(64)
            identity.withUnsafeMutableBytes { for index in $0.indices { $0[index] = $0[index] % 64 + 0x30 } }
            try MemoryScan.farDown {
                try TestPlugin("plain").withPlugin(NoPrompts()) { plugin in
                    let stanzas = try plugin.wrap(fileKey, to: "age1vaulttest1wfjkx6tsd9jkuaq3vz405")
                    let isSame = try plugin.unwrap(stanzas, with: identity)?.isEqual(to: fileKey)
                    #expect(isSame == true)
                }
            }
            #expect(try MemoryScan.copies(of: fileKey) == [])
            #expect(try MemoryScan.copies(of: identity) == [])
        }
    }

    @Test func leaveNoProcessesAndDescriptorsBehind() async {
        await #expect(processExitsWith: .success) {
            let tests = PluginTests()
            func sockets() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
                    return target?.hasPrefix("socket:") == true
                }
            }
            let before = try sockets()
            for mode in ["plain", "fails", "dies", "garbage", "deaf", "stubborn"] { _ = try? tests.wrapped(mode) }
            #expect(try sockets() == before)
            #expect(waitpid(-1, nil, WNOHANG) == -1)
            #expect(errno == ECHILD)
        }
    }

    @Test func thatAreMissingAreNamed() throws {
        let present = try TestPlugin("plain")
        let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
        let relative = [String](repeating: "..", count: depth).joined(separator: "/") + present.folder
        #expect(FileManager.default.isExecutableFile(atPath: relative + "/age-plugin-\(present.name)"))
        let absent = [("nowhere", nil), ("nowhere", present.folder), (present.name, ""), (present.name, relative)]
        for (name, folders) in absent {
            let plugin = Plugin(name: name, prompter: NoPrompts(), folders: folders)
            let error = try failure { _ = try plugin.unwrap([], with: SecretBytes(zeros: 1)) }
            #expect(error == AgeError(.plugin, "the plugin age-plugin-\(name) is not installed (not in PATH)"))
        }
    }

    @Test func areFoundInPathAndOpenAgeFiles() async {
        await #expect(processExitsWith: .success) {
            let plugin = try TestPlugin("")
            setenv("PATH", "relative:\(plugin.folder):\(String(cString: getenv("PATH")))", 1)
            let recipient = try Recipient("age1vaulttest1wfjkx6tsd9jkuaq3vz405")
            let file = try sealed(Fixture.plaintext, to: [Fixture.recipient("one"), recipient])
            let text = "AGE-PLUGIN-NOWHERE-1D9JX2MN5D968JCCEC90\nAGE-PLUGIN-VAULTTEST-1D9JX2MN5D968JE5MZ20\n"
            #expect(try opened(file, with: identityFile(text)) == Fixture.plaintext)
            let missing = try identityFile(String(text.prefix { $0 != "\n" }))
            let error = try failure { _ = try opened(file, with: missing) }
            #expect(error == AgeError(.plugin, "the plugin age-plugin-nowhere is not installed (not in PATH)"))
        }
    }
}
