import Foundation
import SealedLog
import Sealing
import TestSupport
import Testing
import Vault

@Suite("Keychain")
struct KeychainTests {
    private let fixture: KeychainFixture
    private let keychain: Keychain

    init() throws {
        fixture = try KeychainFixture()
        keychain = try fixture.open()
    }

    @Test func givesBackWhatWasSetInEveryForm() throws {
        try keychain.set("text", to: "grüße")
        try keychain.set("bytes", to: [0, 255, 10])
        try keychain.set("secret", to: SecretBytes(utf8: "s3cret"))
        try keychain.set("empty", to: "")
        #expect(try keychain.unsafeString("text") == "grüße")
        #expect(try keychain.get("bytes")?.unsafeArray() == [0, 255, 10])
        #expect(try keychain.unsafeString("secret") == "s3cret")
        #expect(try keychain.unsafeString("empty") == "")
        #expect(try keychain.withSecret("text") { $0.byteCount } == 7)
        let secret = try #require(try keychain.get("secret")?.unsafeArray())
        #expect(secret == Array("s3cret".utf8))
    }

    @Test func givesNilForWhatIsNotThereAndForNothingElse() throws {
        #expect(try keychain.get("none") == nil)
        #expect(try keychain.unsafeString("none") == nil)
        #expect(try keychain.get("none")?.unsafeArray() == nil)
        #expect(try keychain.withSecret("none") { _ in 1 } == nil)
        #expect(try keychain.item("none") == nil)
        #expect(try !keychain.exists("none"))
        #expect(try keychain.items().isEmpty)
        #expect(try keychain.keys().isEmpty)
    }

    @Test func removesAndSaysWhetherThereWasAnything() throws {
        try keychain.set("a", to: "x")
        #expect(try keychain.exists("a"))
        #expect(try keychain.remove("a"))
        #expect(try !keychain.exists("a"))
        #expect(try !keychain.remove("a"))
    }

    @Test func aValueThatIsNotTextIsAWrongTypeAsText() throws {
        try keychain.set("a", to: [0xff, 0xfe])
        let error = try #require(throws: VaultError.self) { try keychain.unsafeString("a") }
        #expect(error.code == .wrongType)
        #expect(error.description.contains("\"a\"") && error.description.contains("String"))
        #expect(try keychain.get("a")?.unsafeArray() == [0xff, 0xfe])
    }

    @Test func knowsOfEachItemWhatWasSaid() throws {
        let before = Date()
        try keychain.set("a", to: "12345", attributes: ["url": "https://example.org", "account": "ann"])
        try keychain.set("b", to: [1, 2])
        try keychain.set("c", to: SecretBytes(utf8: "x"))
        let item = try #require(try keychain.item("a"))
        #expect(item.name == "a" && item.size == 5 && item.kind == "text")
        #expect(item.attributes == ["url": "https://example.org", "account": "ann"])
        #expect(item.created == item.modified)
        #expect(item.created >= before - 1 && item.created <= Date() + 1)
        #expect(try keychain.items().map(\.kind) == ["text", "data", "unspecified"])
        #expect(try keychain.items().first == item)
        let kinds = (0...10).map(Keychain.ValueKind.init).map(\.description)
        #expect(kinds[0..<5] == ["unspecified", "text", "data", "boolean", "integer"])
        #expect(kinds[5...] == ["real", "date", "array", "dictionary", "null", "kind 10"])
    }

    @Test func listsByPrefixAndByAttributes() throws {
        try keychain.set("mail/ann", to: "1", attributes: ["host": "a", "port": "1"])
        try keychain.set("mail/bob", to: "2", attributes: ["host": "b", "port": "1"])
        try keychain.set("mail", to: "3")
        try keychain.set("web", to: "4", attributes: ["host": "a"])
        #expect(try keychain.keys() == ["mail", "mail/ann", "mail/bob", "web"])
        #expect(try keychain.keys(prefix: "mail/") == ["mail/ann", "mail/bob"])
        #expect(try keychain.keys(prefix: "x").isEmpty)
        #expect(try keychain.items(attributes: ["host": "a"]).map(\.name) == ["mail/ann", "web"])
        #expect(try keychain.items(attributes: ["host": "a", "port": "1"]).map(\.name) == ["mail/ann"])
        #expect(try keychain.items(prefix: "mail", attributes: ["port": "1"]).map(\.name) == ["mail/ann", "mail/bob"])
        #expect(try keychain.items(attributes: ["host": "c"]).isEmpty)
        #expect(try keychain.items(attributes: ["none": ""]).isEmpty)
    }

    @Test func renamesAndCopiesWithAttributesAndKind() throws {
        try keychain.set("a", to: "x", attributes: ["k": "v"])
        try keychain.copy("a", to: "b")
        try keychain.rename("a", to: "c")
        #expect(try keychain.keys() == ["b", "c"])
        for name in ["b", "c"] {
            let item = try #require(try keychain.item(name))
            #expect(item.kind == "text" && item.attributes == ["k": "v"])
            #expect(try keychain.unsafeString(name) == "x")
        }
        #expect(try VaultError.code { try keychain.rename("b", to: "c") } == .exists)
        #expect(try VaultError.code { try keychain.copy("b", to: "c") } == .exists)
        #expect(try VaultError.code { try keychain.rename("none", to: "d") } == .absent)
        #expect(try VaultError.code { try keychain.copy("none", to: "c", replacing: true) } == .absent)
        try keychain.set("b", to: "y")
        try keychain.rename("b", to: "c", replacing: true)
        #expect(try keychain.keys() == ["c"])
        #expect(try keychain.unsafeString("c") == "y")
        try keychain.rename("c", to: "c")
        #expect(try keychain.keys() == ["c"])
    }

    @Test func takesTwoSpellingsOfALetterForTwoNames() throws {
        let composed = "caf\u{e9}"
        let apart = "cafe\u{301}"
        try keychain.set(composed, to: "1")
        #expect(try keychain.get(apart) == nil)
        try keychain.rename(composed, to: apart)
        #expect(try keychain.get(composed) == nil)
        #expect(try keychain.unsafeString(apart) == "1")
        try keychain.set(composed, to: "2")
        #expect(try keychain.keys().map { Array($0.utf8) } == [Array(apart.utf8), Array(composed.utf8)])
    }

    @Test(arguments: ["", "a\n", "\u{1b}", "\u{7f}", "\u{80}", String(repeating: "x", count: 1_025)])
    func refusesWhatIsNoName(_ name: String) throws {
        let calls: [() throws -> Void] = [
            { _ = try keychain.get(name) }, { _ = try keychain.withSecret(name) { _ in } },
            { _ = try keychain.exists(name) }, { _ = try keychain.item(name) }, { try keychain.set(name, to: "x") },
            { try keychain.set(name, to: [1]) }, { try keychain.remove(name) },
            { try keychain.rename("a", to: name) }, { try keychain.copy(name, to: "a") },
            { try keychain.transaction { try $0.set(name, to: "x") } },
        ]
        for call in calls {
            let error = try #require(throws: VaultError.self) { try call() }
            #expect(error.code == .invalid)
            #expect(error.description.hasPrefix("Invalid name: "))
            #expect(!error.description.unicodeScalars.contains { $0.properties.generalCategory == .control })
        }
        #expect(try keychain.keys().isEmpty)
    }

    @Test func refusesValuesAndAttributesOutOfBounds() throws {
        let tooLarge = [UInt8](repeating: 7, count: Keychain.maximumValueSize + 1)
        #expect(try VaultError.code { try keychain.set("a", to: tooLarge) } == .invalid)
        let many = Dictionary(uniqueKeysWithValues: (0..<65).map { ("key \($0)", "") })
        #expect(try VaultError.code { try keychain.set("a", to: "x", attributes: many) } == .invalid)
        #expect(try VaultError.code { try keychain.set("a", to: "x", attributes: ["": "x"]) } == .invalid)
        let long = ["k": String(repeating: "x", count: 9_000)]
        #expect(try VaultError.code { try keychain.set("a", to: "x", attributes: long) } == .invalid)
        #expect(try keychain.keys().isEmpty)
        try keychain.set("a", to: "x", attributes: Dictionary(uniqueKeysWithValues: many.prefix(64).map { $0 }))
        #expect(try keychain.item("a")?.attributes.count == 64)
    }

    @Test func tellsFiguresAboutTheVault() throws {
        try keychain.set("a", to: "x")
        try keychain.set("a", to: "y")
        try keychain.set("b", to: "z")
        let information = try keychain.maintenance.information()
        #expect(information.vault == fixture.location.vault && information.keyFile == fixture.location.keyFile)
        #expect(information.id.wholeMatch(of: /[0-9a-f]{32}/) != nil)
        #expect(information.entries == 2 && information.recordsSinceCheckpoint == 3 && information.sequence == 4)
        #expect(information.liveBytes > 0 && information.deadBytes > 0)
        #expect(information.fileSize == (try contents(fixture.location.vault).count))
        #expect(try keychain.vaultKeys.all().map(\.kind) == [.keyFile])
        #expect(information.memoryIsKept)
        #expect(abs(information.created.timeIntervalSinceNow) < 600)
        let verified = try keychain.maintenance.verify(progress: nil)
        #expect(verified.entries == 2 && verified.records == 3 && verified.bytes > 4_096)
        let compacted = try keychain.maintenance.compact()
        #expect(compacted.sizeAfter == (try contents(fixture.location.vault).count))
        #expect(try keychain.maintenance.information().deadBytes == 0)
        #expect(try keychain.maintenance.verify(progress: nil).records == 0)
    }

    /// A process has one log for a file, however often it is opened.
    @Test func remembersEvenIfItIsOpenWithoutAMemoryToo() throws {
        let fixture = try KeychainFixture()
        var forgetful = fixture.location
        forgetful.rollbackMemory = nil
        let first = try Keychain(at: forgetful, creatingIfAbsent: true)
        let second = try Keychain(at: fixture.location)
        try second.set("a", to: "x")
        #expect(try second.maintenance.information().memoryIsKept)
        #expect(try first.unsafeString("a") == "x")
        let files = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.file("state"))
        #expect(files.contains { $0.hasSuffix(".seen") })
    }

    @Test func keepsAnOpenSSHKeyToTheByte() throws {
        let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk=\n-----END OPENSSH PRIVATE KEY-----\n"
        try keychain.set("ssh/key", to: key)
        #expect(try Keychain(at: fixture.location).unsafeString("ssh/key") == key)
    }
}
