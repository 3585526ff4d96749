import Age
import Foundation
import SealedLog
import Sealing
import TestSupport
import Testing

@testable import Vault

/// Values that somebody seals who cannot open the vault.
@Suite("Drop box")
struct DropBoxTests {
    private let fixture: KeychainFixture
    private let keychain: Keychain

    init() throws {
        fixture = try KeychainFixture()
        keychain = try fixture.open()
    }

    private func drop(_ name: String = "token", _ text: String = "from outside") throws -> [UInt8] {
        try Keychain.DropBox.seal(name, secret(text), attributes: ["from": "ci"], to: keychain.dropBox.recipient())
    }

    @Test func aDropIsOpenedAndThenStored() throws {
        let recipient = try keychain.dropBox.recipient()
        #expect(recipient.hasPrefix("age1"))
        #expect(try fixture.open().dropBox.recipient() == recipient)
        let file = try drop()
        #expect(!file.holds("from outside".utf8) && !file.holds("token".utf8))
        let opened = try keychain.dropBox.open(file)
        #expect(opened.name == "token" && opened.size == 12 && opened.attributes == ["from": "ci"])
        #expect(abs(opened.created.timeIntervalSinceNow) < 60)
        #expect(try keychain.text("token") == nil)
        try keychain.dropBox.collect([opened])
        #expect(try keychain.text("token") == "from outside")
        #expect(try keychain.item("token")?.attributes == ["from": "ci"])
    }

    /// Nothing says who has named it.
    @Test(arguments: [" token", "token ", "tok\u{200B}en", "\u{202E}token", "tok\u{2003}en"])
    func aNameThatMayLookLikeAnotherIsNeitherSealedNorOpened(name: String) throws {
        #expect(try VaultError.code { _ = try drop(name) } == .invalid)
        let contents = try DropContents(
            name: #require(EntryName(name)), kind: 0, attributes: [], value: secret("from outside"))
        let recipient = try Recipient(keychain.dropBox.recipient())
        let file = try AgeFile.seal(contents.encoded(), to: [recipient], asking: NoPrompts())
        let error = try VaultError.error { _ = try keychain.dropBox.open(file) }
        #expect(error?.code == .invalid && error?.message.contains("may look like another one") == true)
    }

    /// One that only looks like another; and two of which each looks like the other.
    @Test(arguments: [[" policy"], ["pol\u{200B}icy"], ["a\u{A0}b"], ["Host", "host"], ["K", "\u{212A}"]])
    func aKeyOfAnAttributeThatMayLookLikeAnotherIsRefused(keys: [String]) throws {
        if keys.count == 1 {
            let code = try VaultError.code {
                _ = try Keychain.DropBox.seal(
                    "a", secret("x"), attributes: [keys[0]: "1"], to: keychain.dropBox.recipient())
            }
            #expect(code == .invalid)
        }
        let contents = DropContents(
            name: try #require(EntryName("a")), kind: 0, attributes: keys.map { Attribute(key: $0, value: "1") },
            value: try secret("from outside"))
        let recipient = try Recipient(keychain.dropBox.recipient())
        let file = try AgeFile.seal(contents.encoded(), to: [recipient], asking: NoPrompts())
        #expect(try VaultError.code { _ = try keychain.dropBox.open(file) } == .invalid)
    }

    @Test func aDropReplacesAValueOnlyIfThatIsWanted() throws {
        try keychain.set("token", to: "here")
        let error = try VaultError.error { try keychain.dropBox.collect([keychain.dropBox.open(drop())]) }
        #expect(error?.code == .exists && error?.message == "\"token\" already exists.")
        #expect(try keychain.text("token") == "here")
        try keychain.dropBox.collect([keychain.dropBox.open(drop())], replacing: true)
        #expect(try keychain.text("token") == "from outside")
        #expect(try keychain.history.versions(of: "token").count == 1)
    }

    @Test func aDropFromBeforeTheLastChangeIsRefusedUnlessThatIsSaid() throws {
        func sealed(_ created: UInt64, _ text: String) throws -> Keychain.DropBox.Drop {
            let contents = DropContents(
                name: try #require(EntryName("token")), kind: 0, attributes: [], value: try secret(text),
                created: created)
            let recipient = try Recipient(keychain.dropBox.recipient())
            return try keychain.dropBox.open(AgeFile.seal(contents.encoded(), to: [recipient], asking: NoPrompts()))
        }
        func lastChange() throws -> UInt64 {
            let name = try #require(EntryName("token"))
            return try #require(keychain.translated(keychain.log.history(name))?.modified)
        }
        try keychain.set("token", to: "here")
        let changed = try lastChange()
        let error = try VaultError.error {
            try keychain.dropBox.collect([sealed(changed - 1, "before")], replacing: true)
        }
        #expect(error?.code == .exists && error?.message.contains("this drop was sealed before") == true)
        #expect(try keychain.text("token") == "here")
        try keychain.dropBox.collect([sealed(changed - 1, "before")], replacing: true, acceptingOlder: true)
        #expect(try keychain.text("token") == "before")
        try keychain.remove("token")
        let removed = try lastChange()
        #expect(try VaultError.code { try keychain.dropBox.collect([sealed(removed - 1, "back")]) } == .exists)
        #expect(try keychain.text("token") == nil)
        let two = [try sealed(removed + 9, "later"), try sealed(removed + 8, "earlier")]
        #expect(try VaultError.code { try keychain.dropBox.collect(two) } == .exists)
        try keychain.dropBox.collect([sealed(removed, "same time")])
        #expect(try keychain.text("token") == "same time")
    }

    @Test func aDropForAnotherVaultOrFromBeforeARotationIsLocked() throws {
        let other = try KeychainFixture()
        let foreign = try Keychain.DropBox.seal("token", secret("x"), to: other.open().dropBox.recipient())
        let former = try drop()
        let recipient = try keychain.dropBox.recipient()
        try keychain.vaultKeys.rotateDataKey()
        #expect(try keychain.dropBox.recipient() != recipient)
        for file in [foreign, former] {
            let error = try VaultError.error { _ = try keychain.dropBox.open(file) }
            #expect(error?.code == .locked && error?.message.contains("another vault") == true)
        }
    }

    @Test func aDropForAPersonIsOpenedByTheirIdentity() throws {
        let file = try Keychain.DropBox.seal("token", secret("for ann"), to: PublishedIdentity.recipient)
        #expect(try VaultError.code { _ = try keychain.dropBox.open(file) } == .locked)
        var location = fixture.location
        location.identityFile = fixture.folder.file("identity")
        try overwrite(fixture.folder.file("identity"), Array(PublishedIdentity.secret.utf8))
        let personal = try Keychain(at: location)
        try personal.dropBox.collect([personal.dropBox.open(file)])
        #expect(try personal.text("token") == "for ann")
    }

    @Test func aChangedOrCutDropIsRefused() throws {
        let file = try drop()
        for offset in stride(from: 0, to: file.count, by: 7) {
            var changed = file
            changed[offset] ^= 1
            let code = try VaultError.code { _ = try keychain.dropBox.open(changed) }
            #expect([.damaged, .invalid, .locked].contains(code), "byte \(offset)")
        }
        for length in stride(from: 0, to: file.count, by: 9) {
            let code = try VaultError.code { _ = try keychain.dropBox.open(Array(file[..<length])) }
            #expect([.damaged, .invalid].contains(code), "\(length) bytes")
        }
    }

    @Test func whatNoVaultCanHaveIsNotSealed() throws {
        let recipient = try keychain.dropBox.recipient()
        func code(_ name: String, _ attributes: [String: String] = [:], to recipient: String) throws -> VaultError.Code?
        {
            try VaultError.code {
                _ = try Keychain.DropBox.seal(name, secret("x"), attributes: attributes, to: recipient)
            }
        }
        #expect(try code("", to: recipient) == .invalid)
        #expect(try code("a\nb", to: recipient) == .invalid)
        #expect(try code("a", to: "age1nobody") == .invalid)
        #expect(try code("a", ["": "x"], to: recipient) == .invalid)
        for size in [8_000, 9_000, 20_000] {
            #expect(try code("a", [String(repeating: "k", count: size): ""], to: recipient) == .invalid)
        }
        #expect(try code("a", to: recipient) == nil)
    }
}
