import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import Vault

/// The keys of a vault through the public interface.
@Suite("Keys of a keychain")
struct KeysTests {
    private let fixture: KeychainFixture
    private let keychain: Keychain

    init() throws {
        fixture = try KeychainFixture()
        keychain = try fixture.open()
        try keychain.set("a", to: "value")
    }

    private func opens(_ location: VaultLocation, _ options: Keychain.Options = Keychain.Options()) throws -> Bool {
        var options = options
        options.usesKernelKeyring = false
        let code = try VaultError.code { _ = try Keychain(at: location, options: options) }
        #expect([nil, .locked].contains(code))
        return code == nil
    }

    @Test func aSecondKeyFileOpensTheVault() throws {
        let location = fixture.location(keyFile: "second.key")
        #expect(try !opens(location))
        #expect(try keychain.vaultKeys.addKeyFile(at: location.keyFile, label: "second"))
        #expect(try opens(location) && opens(fixture.location))
        let keys = try keychain.vaultKeys.all()
        #expect(keys.map(\.number) == [1, 2] && keys.map(\.kind) == [.keyFile, .keyFile])
        #expect(keys.map(\.label) == ["", "second"] && keys.map(\.isInUse) == [true, false])
        let mode = try FileManager.default.attributesOfItem(atPath: location.keyFile)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let error = try VaultError.error { try keychain.vaultKeys.addKeyFile(at: location.keyFile) }
        #expect(error?.code == .exists && error?.message.contains("(key 2)") == true)
        #expect(try keychain.vaultKeys.all() == keys)
    }

    @Test func anyOtherFileOpensTheVaultByItsBytes() throws {
        let location = fixture.location(keyFile: "photo")
        try overwrite(location.keyFile, Array("any bytes at all".utf8))
        #expect(try !keychain.vaultKeys.addKeyFile(at: location.keyFile))
        #expect(try keychain.vaultKeys.all().map(\.kind) == [.keyFile, .otherFile])
        #expect(try opens(location))
        try overwrite(location.keyFile, Array("any bytes at alk".utf8))
        #expect(try !opens(location))
    }

    @Test func aRemovedKeyOpensTheVaultNoMore() throws {
        let location = fixture.location(keyFile: "second.key")
        try keychain.vaultKeys.addKeyFile(at: location.keyFile)
        let keys = try keychain.vaultKeys.all()
        try keychain.vaultKeys.remove(keys[1])
        #expect(try !opens(location) && opens(fixture.location))
        let error = try VaultError.error { try keychain.vaultKeys.remove(keys[0]) }
        #expect(error?.code == .invalid && error?.message.contains("last key") == true)
        #expect(try opens(fixture.location))
    }

    /// Numbers move up when a key before them is removed; another process may do that between a look and a removal.
    @Test func aKeyIsTheOneThatWasSeenWhateverItsNumberIsBy() throws {
        let locations = ["second.key", "third.key", "fourth.key"].map(fixture.location(keyFile:))
        for location in locations { try keychain.vaultKeys.addKeyFile(at: location.keyFile) }
        let keys = try keychain.vaultKeys.all()
        try fixture.open().vaultKeys.remove(keys[1])
        let error = try VaultError.error { try keychain.vaultKeys.remove(keys[1]) }
        #expect(error?.code == .absent && error?.message.contains("no longer exists") == true)
        #expect(
            try VaultError.code { try keychain.vaultKeys.replaceKeyFile(keys[1], by: locations[0].keyFile) } == .absent)
        #expect(try VaultError.code { try keychain.vaultKeys.rotateDataKey(dropping: [keys[1]]) } == .locked)
        try keychain.vaultKeys.remove(keys[2])
        #expect(try !opens(locations[0]) && !opens(locations[1]) && opens(locations[2]))
    }

    @Test func aReplacedKeyFileOpensTheVaultNoMore() throws {
        let location = fixture.location(keyFile: "second.key")
        #expect(try keychain.vaultKeys.replaceKeyFile(by: location.keyFile))
        #expect(try opens(location) && !opens(fixture.location))
        #expect(try keychain.vaultKeys.all().count == 1)
        // It goes on, although the slot that has opened it is gone.
        try keychain.set("a", to: "later")
        #expect(try Keychain(at: location).text("a") == "later")
    }

    @Test func keysThatCannotBeAreRefusedAndNothingChanges() throws {
        let bytes = try contents(fixture.location.vault)
        #expect(try VaultError.code { try keychain.vaultKeys.addKeyFile(at: fixture.location.vault) } == .invalid)
        #expect(try VaultError.code { try keychain.vaultKeys.addKeyFile(at: "~/x.key") } == .invalid)
        #expect(try VaultError.code { try keychain.vaultKeys.addPassphrase(secret("")) } == .invalid)
        #expect(try VaultError.code { try keychain.vaultKeys.addCommand("") } == .invalid)
        #expect(try VaultError.code { try keychain.vaultKeys.addCommand("exit 3") } == .locked)
        #expect(try VaultError.code { try keychain.vaultKeys.addRecipient("age1nobody") } == .invalid)
        let path = fixture.folder.file("second.key")
        let label = String(repeating: "x", count: 257)
        #expect(try VaultError.code { try keychain.vaultKeys.addKeyFile(at: path, label: label) } == .invalid)
        #expect(try contents(fixture.location.vault) == bytes)
    }

    @Test func aRotationLocksOutWhomItDropsAndKeepsWhoseSecretIsGiven() throws {
        let second = fixture.location(keyFile: "second.key")
        let third = fixture.location(keyFile: "third.key")
        for location in [second, third] { try keychain.vaultKeys.addKeyFile(at: location.keyFile) }
        let open = try Keychain(at: third)
        let fingerprint = try keychain.vaultKeys.fingerprint()
        try keychain.vaultKeys.rotateDataKey(dropping: [keychain.vaultKeys.all()[1]]) { (key) throws(VaultError) in
            #expect(key.number == 3)
            return try .keyFile(third.keyFile)
        }
        #expect(try opens(third) && opens(fixture.location) && !opens(second))
        #expect(try keychain.vaultKeys.all().count == 2)
        #expect(try keychain.vaultKeys.fingerprint() != fingerprint)
        #expect(try open.text("a") == "value")
        #expect(try open.vaultKeys.fingerprint() == keychain.vaultKeys.fingerprint())
    }

    /// Others know the key files, also the one in use.
    @Test func aRotationReplacesKeysInTheSameStep() throws {
        let second = fixture.location(keyFile: "second.key")
        let third = fixture.location(keyFile: "third.key")
        for location in [second, third] {
            try keychain.vaultKeys.addKeyFile(at: location.keyFile, label: location.keyFile)
        }
        let new = ["new.key", "newer.key"].map(fixture.location(keyFile:))
        let keys = try keychain.vaultKeys.all()
        let fingerprint = try keychain.vaultKeys.fingerprint()
        let rotation = try keychain.vaultKeys.rotateDataKey(replacing: [keys[0], keys[1]]) { (key) throws(VaultError) in
            try .keyFile([1: new[0].keyFile, 2: new[1].keyFile, 3: third.keyFile][key.number] ?? "")
        }
        #expect(rotation.generatedKeyFiles == new.map(\.keyFile))
        #expect(try !opens(fixture.location) && !opens(second) && opens(third) && new.allSatisfy { try opens($0) })
        let replaced = try keychain.vaultKeys.all()
        #expect(replaced.map(\.label) == keys.map(\.label) && replaced.map(\.isInUse) == [true, false, false])
        #expect(zip(replaced, keys).map { $0.salt == $1.salt } == [false, false, true])
        #expect(try keychain.vaultKeys.fingerprint() != fingerprint)
        try keychain.set("a", to: "later")
        #expect(try Keychain(at: new[1]).text("a") == "later")
    }

    /// Whoever drops one of them would have dropped nothing.
    @Test(arguments: [nil, "a passphrase in a file, of some length"]) func oneFileDoesNotReplaceTwoKeys(
        contents text: String?
    ) throws {
        try keychain.vaultKeys.addKeyFile(at: fixture.location(keyFile: "second.key").keyFile)
        let new = fixture.folder.file("new.key")
        if let text {
            try overwrite(new, text.utf8)
            try #require(chmod(new, 0o600) == 0)
        }
        let before = try contents(fixture.location.vault)
        let error = try VaultError.error {
            let keys = Set(try keychain.vaultKeys.all())
            try keychain.vaultKeys.rotateDataKey(replacing: keys) { _ throws(VaultError) in try .keyFile(new) }
        }
        #expect(error?.code == .invalid && error?.message.contains("cannot replace two keys") == true)
        #expect(try contents(fixture.location.vault) == before)
        #expect(FileManager.default.fileExists(atPath: new) == (text != nil))
        let newer = fixture.folder.file("newer.key")
        try keychain.vaultKeys.rotateDataKey(replacing: Set(keychain.vaultKeys.all())) { (key) throws(VaultError) in
            try .keyFile(key.number == 1 ? new : newer)
        }
        #expect(try [new, newer].allSatisfy { try opens(fixture.location(keyFile: $0.lastPathComponent)) })
    }

    @Test(arguments: [" usb", "usb ", "us\u{200B}b", "us\u{A0}b", "us  b"]) func aLabelThatMayLookLikeAnotherIsRefused(
        label: String
    ) throws {
        let new = fixture.folder.file("new.key")
        #expect(try VaultError.code { try keychain.vaultKeys.addKeyFile(at: new, label: label) } == .invalid)
        #expect(!FileManager.default.fileExists(atPath: new))
        try keychain.vaultKeys.addKeyFile(at: new, label: "us b")
    }

    @Test func aKeyIsNotReplacedByOneThatOpensTheVaultAndNoNewFileIsLeft() throws {
        let second = fixture.location(keyFile: "second.key")
        try keychain.vaultKeys.addKeyFile(at: second.keyFile)
        let bytes = try contents(fixture.location.vault)
        let keys = try keychain.vaultKeys.all()
        let new = fixture.folder.file("new.key")
        let error = try VaultError.error {
            try keychain.vaultKeys.rotateDataKey(replacing: Set(keys)) { (key) throws(VaultError) in
                try .keyFile(key.number == 1 ? second.keyFile : new)
            }
        }
        #expect(error?.code == .exists && error?.message.contains("key 2") == true)
        // The secret of the second one is missing.
        let code = try VaultError.code {
            try keychain.vaultKeys.rotateDataKey(replacing: [keys[0]]) { (key) throws(VaultError) in
                try key.number == 1 ? .keyFile(new + "er") : nil
            }
        }
        #expect(code == .locked && !FileManager.default.fileExists(atPath: new + "er"))
        #expect(try contents(fixture.location.vault) == bytes)
        #expect(try opens(fixture.location) && opens(second))
    }

    @Test func aRotationWithoutASecretOrWithAWrongOneChangesNothing() throws {
        let second = fixture.location(keyFile: "second.key")
        try keychain.vaultKeys.addKeyFile(at: second.keyFile, label: "laptop")
        let bytes = try contents(fixture.location.vault)
        var error = try VaultError.error { try keychain.vaultKeys.rotateDataKey() }
        #expect(error?.code == .locked)
        #expect(error?.message.contains("Key 2 (\"laptop\") cannot be kept without its secret") == true)
        error = try VaultError.error {
            try keychain.vaultKeys.rotateDataKey { (_) throws(VaultError) in try .keyFile(fixture.location.keyFile) }
        }
        #expect(error?.code == .locked && error?.message.contains("Key 2 (\"laptop\") does not match") == true)
        let own = VaultError(.unavailable, "not now")
        error = try VaultError.error { try keychain.vaultKeys.rotateDataKey { (_) throws(VaultError) in throw own } }
        #expect(error?.code == .unavailable && error?.message == "not now")
        let keys = try keychain.vaultKeys.all()
        let code = try VaultError.code {
            try keychain.vaultKeys.rotateDataKey(dropping: [keys[0]]) { (_) throws(VaultError) in
                try .keyFile(second.keyFile)
            }
        }
        #expect(code == .invalid)
        #expect(try contents(fixture.location.vault) == bytes)
    }

    @Test func theFingerprintIsEightGroupsAndTheSameOnEveryOpening() throws {
        let fingerprint = try keychain.vaultKeys.fingerprint()
        let groups = fingerprint.split(separator: "-")
        #expect(groups.count == 8 && groups.allSatisfy { $0.count == 4 && $0.allSatisfy(\.isHexDigit) })
        try keychain.eraseRemoved()
        #expect(try fixture.open().vaultKeys.fingerprint() == fingerprint)
        #expect(try KeychainFixture().open().vaultKeys.fingerprint() != fingerprint)
    }

    @Test func aBackupOverTheVaultOrItsKeyIsRefused() throws {
        try FileManager.default.createSymbolicLink(
            atPath: fixture.folder.file("link"), withDestinationPath: fixture.location.keyFile)
        let vault = try contents(fixture.location.vault)
        let key = try contents(fixture.location.keyFile)
        for path in [fixture.location.vault, fixture.location.keyFile, fixture.folder.file("link")] {
            for isReplacing in [false, true] {
                let code = try VaultError.code { try keychain.copies.backUp(to: path, replacing: isReplacing) }
                #expect(code == .invalid, "\(path)")
            }
        }
        #expect(try contents(fixture.location.vault) == vault && contents(fixture.location.keyFile) == key)
        let path = fixture.folder.file("backup.vault")
        try keychain.copies.backUp(to: path)
        let error = try VaultError.error { try keychain.copies.backUp(to: path) }
        #expect(error?.code == .exists && error?.message == "\(path) already exists; it was left alone.")
        try keychain.set("a", to: "later")
        try keychain.copies.backUp(to: path, replacing: true)
        var location = try fixture.elsewhere()
        location.vault = path
        location.keyFile = fixture.location.keyFile
        #expect(try Keychain(at: location).text("a") == "later")
    }

    @Test func aBackupsTargetThatIsNoFileIsNamed() throws {
        let path = fixture.folder.file("backup.vault")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let error = try VaultError.error { try keychain.copies.backUp(to: path, replacing: true) }
        #expect(error?.code == .exists)
        #expect(error?.message == "\(path) is a folder, not a file; it was left alone. Name another path.")
    }
}
