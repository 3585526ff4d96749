import Foundation
import SealedLog
import Sealing
import TestSupport
import Testing

@testable import Vault

/// A secret that is set on every route turns up in nothing that a person or a log may see.
@Suite("A canary among the secrets")
struct CanaryTests {
    private static let canary = "canary-7f3a91"
    private struct Seen {
        var texts: [String] = []

        mutating func look(at value: some Any) {
            texts += [String(describing: value), String(reflecting: value)]
            var dumped = ""
            dump(value, to: &dumped)
            texts.append(dumped)
        }

        mutating func look(atErrorOf body: () throws -> Void) {
            do {
                try body()
                Issue.record("no error")
            } catch {
                look(at: error)
                texts.append((error as NSError).description)
                texts.append(error.localizedDescription)
            }
        }

        func expectNoCanary(sourceLocation: SourceLocation = #_sourceLocation) {
            let digits = CanaryTests.canary.utf8.map { String($0, radix: 16) }.joined()
            let numbers = CanaryTests.canary.utf8.map { String($0) }.joined(separator: ", ")
            for text in texts {
                for trace in [CanaryTests.canary, digits, numbers, Data(CanaryTests.canary.utf8).base64EncodedString()]
                {
                    #expect(!text.contains(trace), sourceLocation: sourceLocation)
                }
            }
            #expect(!texts.isEmpty)
        }
    }

    private let fixture: KeychainFixture
    private let files = FaultyFileSystem()
    private let keychain: Keychain

    init() throws {
        fixture = try KeychainFixture()
        keychain = try fixture.open(in: files)
        let canary = CanaryTests.canary
        try keychain.set("text", to: canary)
        try keychain.set("bytes", to: Array(canary.utf8) + [0xff])
        try keychain.set("secret", to: SecretBytes(utf8: canary))
        try keychain.transaction { try $0.set("in a transaction", to: canary) }
        try keychain.copy("text", to: "copy")
        try keychain.rename("secret", to: "renamed")
    }

    @Test func isInNoDescriptionOfWhatTheKeychainGives() throws {
        var seen = Seen()
        seen.look(at: keychain)
        seen.look(at: keychain.log)
        seen.look(at: try keychain.items())
        seen.look(at: try keychain.maintenance.information())
        seen.look(at: try keychain.maintenance.verify(progress: nil))
        seen.look(at: keychain.location)
        seen.look(at: try keychain.listing())
        var entries = try keychain.log.listing()
        while let entry = try entries.next() { seen.look(at: entry) }
        var nonces = NonceSource()
        seen.look(at: try keychain.log.seal(SecretBytes(utf8: CanaryTests.canary), kind: 1, nonces: &nonces))
        seen.expectNoCanary()
        // What would be found if it were there.
        var found = Seen()
        found.look(at: [CanaryTests.canary])
        #expect(found.texts.allSatisfy { $0.contains(CanaryTests.canary) })
    }

    @Test func isInNoError() throws {
        let canary = CanaryTests.canary
        var seen = Seen()
        seen.look(atErrorOf: { _ = try keychain.unsafeString("bytes") })
        seen.look(atErrorOf: { try keychain.rename("text", to: "copy") })
        seen.look(atErrorOf: { try keychain.set("a\n", to: canary) })
        seen.look(atErrorOf: {
            try keychain.set("a", to: String(repeating: canary, count: Keychain.maximumValueSize / canary.count + 1))
        })
        seen.look(atErrorOf: {
            try keychain.set("a", to: canary, attributes: ["k": String(repeating: canary, count: 1_000)])
        })
        for kind in [.read, .write, .lock, .status, .synchronizeData] as [FileCall] {
            files.fail([kind], times: 1_000, with: .error(EIO))
            seen.look(atErrorOf: { try keychain.transaction { try $0.set("text", to: canary + canary) } })
            files.heal()
        }
        // A key file that does not fit, and one that is damaged.
        let key = try #require(String(bytes: contents(fixture.location.keyFile), encoding: .utf8))
        for content in ["another file, with \(canary)", key.replacing("vault-key-1-", with: "vault-key-1-0") + canary] {
            try overwrite(fixture.location.keyFile, Array(content.utf8))
            seen.look(atErrorOf: { _ = try fixture.open(in: files) })
        }
        try overwrite(fixture.location.keyFile, Array(key.utf8))
        // A value whose box was changed.
        var bytes = try contents(fixture.location.vault)
        for offset in 4_096..<bytes.count { bytes[offset] ^= 1 }
        try overwrite(fixture.location.vault, bytes)
        seen.look(atErrorOf: { _ = try keychain.maintenance.verify() })
        seen.expectNoCanary()
    }

    @Test func isInNoFile() throws {
        try keychain.maintenance.compact()
        try keychain.set("text", to: CanaryTests.canary)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: fixture.folder.path)
        #expect(paths.count >= 6)
        for path in paths where !["data", "config", "state"].contains(path) {
            let bytes = try contents(fixture.folder.file(path))
            #expect(!bytes.holds(CanaryTests.canary.utf8))
            // The names are sealed too.
            #expect(!bytes.holds("in a transaction".utf8))
            #expect(!bytes.holds("renamed".utf8))
        }
    }
}
