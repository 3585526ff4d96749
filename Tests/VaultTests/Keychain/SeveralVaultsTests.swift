import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import Vault

/// Vaults by name, each with its own key, and copies of one vault.
@Suite("Several vaults")
struct SeveralVaultsTests {
    private let folder: TemporaryFolder
    private var environment: [String: String] { ["HOME": folder.path, "XDG_CONFIG_HOME": folder.file("config")] }

    init() throws {
        folder = try TemporaryFolder()
        for name in ["config/vault", "data"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        }
        try overwrite(
            folder.file("config/vault/config"),
            Array(
                """
                [default]
                vault = ~/data/mine.vault
                [work]
                vault = ~/data/work.vault
                key-file = ~/work.key
                [device]
                vault = ~/data/device.vault
                key-command = cat key
                identity = ~/identity

                """.utf8))
    }

    @Test func aNameLeadsToItsVaultAndItsKey() throws {
        var location = try VaultLocation.standard(vault: "work", environment: environment)
        #expect(location.vault == folder.file("data/work.vault") && location.keyFile == folder.file("work.key"))
        #expect(location.keyCommand == nil && location.identityFile == nil)
        location = try VaultLocation.standard(environment: environment)
        #expect(location.vault == folder.file("data/mine.vault"))
        location = try VaultLocation.standard(vault: "device", environment: environment)
        #expect(location.keyFile == folder.file("config/vault/device.key"))
        #expect(location.keyCommand == "cat key" && location.identityFile == folder.file("identity"))
        // What the environment says of the key is said of the vault that nobody names.
        let named = environment.merging(["VAULT_KEY_FILE": "/k"]) { $1 }
        #expect(try VaultLocation.standard(vault: "work", environment: named).keyFile == folder.file("work.key"))
        #expect(try VaultLocation.standard(environment: named).keyFile == "/k")
    }

    @Test func aPathIsNoName() throws {
        for path in ["./work", "/data/work"] {
            #expect(try VaultLocation.standard(vault: path, environment: environment).vault == path)
        }
    }

    @Test func eachHasItsOwnKeyAndContents() throws {
        let keychains = try [nil, "work"].map { name in
            try Keychain(at: .standard(vault: name, environment: environment), creatingIfAbsent: true)
        }
        for (index, keychain) in keychains.enumerated() { try keychain.set("a", to: "\(index)") }
        #expect(try keychains.map { try $0.text("a") } == ["0", "1"])
        #expect(try keychains[0].vaultKeys.fingerprint() != keychains[1].vaultKeys.fingerprint())
        let work = try VaultLocation.standard(vault: "work", environment: environment)
        var wrong = work
        wrong.keyFile = try VaultLocation.standard(environment: environment).keyFile
        #expect(try VaultError.code { _ = try Keychain(at: wrong) } == .locked)
        let error = try VaultError.error { try keychains[0].copies.merge(work.vault) }
        #expect(error?.code == .locked || error?.code == .invalid)
    }

    @Test func aCopyIsMergedAndAnotherVaultIsRefused() throws {
        let fixture = try KeychainFixture()
        let keychain = try fixture.open()
        try keychain.set("a", to: "both")
        let copy = fixture.folder.file("copy.vault")
        try keychain.copies.backUp(to: copy)
        var location = try fixture.elsewhere()
        location.vault = copy
        location.keyFile = fixture.location.keyFile
        let there = try Keychain(at: location)
        try there.set("a", to: "there")
        try there.set("b", to: "there")
        Clock.sleep(microseconds: 3_000)
        try keychain.set("a", to: "here")
        let merge = try keychain.copies.merge(copy)
        #expect(merge.conflicts == ["a"] && merge.changed == ["a", "b"])
        #expect(try keychain.text("a") == "here" && keychain.text("b") == "there")
        #expect(try keychain.history.versions(of: "a").count == 2)
        #expect(try there.text("a") == "there")
        // Now this file can take the copy's place on the other machine.
        try replace(copy, with: contents(fixture.location.vault))
        #expect(try Keychain(at: location).text("a") == "here")

        let other = fixture.folder.file("other.vault")
        _ = try Keychain.create(
            at: VaultLocation(vault: other, keyFile: fixture.location.keyFile, rollbackMemory: fixture.folder.file("s"))
        )
        let error = try VaultError.error { try keychain.copies.merge(other) }
        #expect(error?.code == .invalid && error?.message.contains("another vault") == true)
        #expect(try VaultError.code { try keychain.copies.merge(fixture.folder.file("none")) } == .noVault)
    }

    /// So that others can be merged still.
    @Test func anErrorOfACopyIsToldFromOneOfTheVault() throws {
        let fixture = try KeychainFixture()
        let keychain = try fixture.open()
        try keychain.set("a", to: "1")
        let copy = fixture.folder.file("copy.vault")
        try keychain.copies.backUp(to: copy)
        try overwrite(copy, contents(copy).prefix(6_000))
        let error = try #require(try VaultError.error { try keychain.copies.merge(copy) })
        #expect(error.isOfMergedCopy && error.causes == [.unusableCopy(.damaged), .damagedVault(copy)])
        try overwrite(fixture.location.vault, contents(fixture.location.vault).prefix(6_000))
        let own = try #require(try VaultError.error { _ = try fixture.open().copies.merge(copy) })
        #expect(!own.isOfMergedCopy && own.causes == [.damagedVault(fixture.location.vault)])
    }

    /// A slip is told before anything is merged. A name that was removed is known, and so is each of either side.
    @Test func aNameThatNoCopyHasIsFound() throws {
        let fixture = try KeychainFixture()
        let keychain = try fixture.open()
        try keychain.set("a", to: "1")
        try keychain.set("gone", to: "2")
        try keychain.remove("gone")
        let copy = fixture.folder.file("copy.vault")
        try keychain.copies.backUp(to: copy)
        try keychain.set("later", to: "3")
        let opened = try keychain.copies.copy(at: copy)
        #expect(keychain.copies.unknownName(among: [], in: [opened]) == nil)
        #expect(keychain.copies.unknownName(among: ["later", "gone", "a"], in: [opened]) == nil)
        #expect(keychain.copies.unknownName(among: ["a", "b", "c"], in: [opened]) == "b")
        #expect(keychain.copies.unknownName(among: [""], in: [opened]) == "")
        var location = fixture.location
        location.vault = copy
        location.rollbackMemory = nil
        let other = try Keychain(at: location)
        #expect(
            try other.copies.unknownName(among: ["later"], in: [other.copies.copy(at: fixture.location.vault)]) == nil)
        #expect(try other.copies.unknownName(among: ["later"], in: [other.copies.copy(at: copy)]) == "later")
    }
}
