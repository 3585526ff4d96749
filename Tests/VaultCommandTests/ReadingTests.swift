import FoundationEssentials
import Glibc
import SealedLog
import Sealing
import Testing
import Vault
import VaultTesting

@testable import VaultCommand

/// The one way in which commands read values.
@Suite struct ReadingTests {
    private let folder: TemporaryFolder
    private let keychain: Keychain

    init() throws {
        folder = try TemporaryFolder()
        let location = VaultLocation(
            vault: folder.file("a.vault"), keyFile: folder.file("a.key"), rollbackMemory: folder.file("state"))
        keychain = try Keychain.create(at: location)
        try keychain.set("bank", to: "a secret", attributes: ["policy": "run", "username": "ada"])
        try keychain.set("bank.otp", to: "a seed")
        try keychain.set("u.token", to: "tok", attributes: ["policy": ""])
    }

    private func read(_ name: String) throws -> String? {
        guard let value = try Invocation(command: .get).reading(name, from: keychain) else { return nil }
        return value.bytes.unsafeString()
    }

    private func recorded() throws -> [String] { try keychain.accessLog.report().records.map(\.access.name) }

    @Test func isOfAnEntryOrOfAnAttribute() throws {
        #expect(try read("u.token") == "tok")
        #expect(try read("bank.username") == "ada")
        #expect(try read("bank.nothing") == nil)
        #expect(try read("nothing") == nil)
        #expect(try recorded() == [])
    }

    @Test(arguments: ["bank", "bank.otp"]) func keepsToThePolicyOfALogin(name: String) throws {
        try keychain.accessLog.set(on: true)
        #expect(throws: VaultError.self) { try read(name) }
        let accesses = try keychain.accessLog.report().records.map(\.access)
        #expect(accesses.map(\.name) == [name] && accesses.allSatisfy(\.isRefused))
    }

    @Test func keepsToThePolicyOfALoginThatHasExpired() throws {
        let past = Date(timeIntervalSince1970: 1)
        try keychain.set("bank", to: "a secret", attributes: ["policy": "run"], expires: past)
        let error = #expect(throws: VaultError.self) { try read("bank.otp") }
        #expect(error?.causes == [.policySet("bank", isExpired: true)])
        #expect(try read("bank") == nil)
    }

    @Test func isRecordedWithWhatAsked() throws {
        try keychain.accessLog.set(on: true)
        _ = try read("u.token")
        _ = try Invocation(command: .get).reading("u.token", from: keychain, action: "erase", starting: "/bin/true")
        _ = try read("nothing")
        let found = try keychain.accessLog.report().records.map(\.access)
        #expect(found.map(\.name) == ["u.token", "u.token"])
        #expect(found.map(\.command) == ["get", "get erase"])
        #expect(found.map(\.started) == ["", "/bin/true"])
        for access in found {
            #expect(access.process == UInt64(getppid()) && access.user == UInt64(getuid()))
            #expect(!access.program.isEmpty)
        }
    }

    @Test func nothingIsReadThatCannotBeRecorded() throws {
        try keychain.accessLog.set(on: true)
        let path = try #require(keychain.accessLog.path)
        try #require(mkdir(path, 0o700) == 0)
        #expect(throws: VaultError.self) { try read("u.token") }
        try #require(rmdir(path) == 0)
        #expect(try read("u.token") == "tok")
    }
}
