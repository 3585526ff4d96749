import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("Making a vault")
struct CreationTests {
    private let fixture: KeychainFixture
    private var location: VaultLocation { fixture.location }

    init() throws {
        fixture = try KeychainFixture()
    }

    private func mode(_ path: String) throws -> UInt32 { try PosixFileSystem().status(at: path).mode }

    @Test func makesAVaultAndAKeyForTheirOwnerAlone() throws {
        let first = try fixture.open()
        #expect(first.created == Keychain.Created(vault: true, keyFile: true))
        #expect(try mode(location.vault) == 0o600)
        #expect(try mode(location.keyFile) == 0o600)
        for folder in ["data", "config", "state"] { #expect(try mode(fixture.folder.file(folder)) == 0o700) }
        #expect(try fixture.open().created == Keychain.Created())
    }

    @Test func comesAboutOnlyIfItIsAskedFor() throws {
        #expect(try VaultError.code { _ = try Keychain(at: location) } == .noVault)
        #expect(!fixture.isThere(location.vault) && !fixture.isThere(location.keyFile))
    }

    @Test func neverReplacesAVault() throws {
        try fixture.open().set("a", to: "x")
        let before = try contents(location.vault)
        #expect(try VaultError.code { _ = try Keychain.create(at: location) } == .exists)
        #expect(try contents(location.vault) == before)
        #expect(try fixture.open().unsafeString("a") == "x")
    }

    @Test func neverReplacesAVaultWhoseKeyIsMissingOrAnotherOne() throws {
        try fixture.open().set("a", to: "x")
        let before = try contents(location.vault)
        let key = try contents(location.keyFile)
        try FileManager.default.removeItem(atPath: location.keyFile)
        for _ in 0..<2 {
            let error = try #require(throws: VaultError.self) { _ = try fixture.open() }
            #expect(error.code == .locked)
            #expect(error.description.contains(location.keyFile))
        }
        #expect(try VaultError.code { _ = try Keychain.create(at: location) } == .exists)
        #expect(!fixture.isThere(location.keyFile))

        let other = try KeychainFixture()
        _ = try other.open()
        try overwrite(location.keyFile, try contents(other.location.keyFile))
        #expect(try VaultError.code { _ = try fixture.open() } == .locked)
        try overwrite(location.keyFile, [])
        #expect(try VaultError.code { _ = try fixture.open() } == .locked)
        #expect(try contents(location.vault) == before)

        try overwrite(location.keyFile, key)
        #expect(try fixture.open().unsafeString("a") == "x")
    }

    @Test func neverReplacesWhatIsNoVault() throws {
        try PosixFileSystem().makeFolder(fixture.folder.file("data"))
        _ = try KeychainFixture().open()
        for bytes in [[], Array("not a vault".utf8), [UInt8](repeating: 0, count: 8_192)] as [[UInt8]] {
            try overwrite(location.vault, bytes)
            #expect(try VaultError.code { _ = try fixture.open() } == .damaged)
            #expect(try VaultError.code { _ = try Keychain.create(at: location) } == .exists)
            #expect(try contents(location.vault) == bytes)
        }
        try FileManager.default.removeItem(atPath: location.vault)
        try FileManager.default.createDirectory(atPath: location.vault, withIntermediateDirectories: true)
        #expect(throws: VaultError.self) { _ = try fixture.open() }
    }

    @Test func usesTheKeyFileThatIsThere() throws {
        try PosixFileSystem().makeFolder(fixture.folder.file("config"))
        try overwrite(location.keyFile, Array("a passphrase in a file".utf8))
        let keychain = try Keychain.create(at: location, label: "the laptop's")
        #expect(keychain.created == Keychain.Created(vault: true, keyFile: false))
        #expect(!keychain.created.keyFileIsShort && !keychain.created.keyFileIsBesideVault)
        let keys = try keychain.vaultKeys.all()
        #expect(keys.map(\.kind) == [.otherFile] && keys.map(\.label) == ["the laptop's"])
        #expect(try contents(location.keyFile) == Array("a passphrase in a file".utf8))
    }

    @Test func doesNotUseAKeyFileThatOthersCanRead() throws {
        try PosixFileSystem().makeFolder(fixture.folder.file("config"))
        try overwrite(location.keyFile, Array("a passphrase in a file".utf8))
        try setMode(location.keyFile, 0o644)
        let error = try #require(throws: VaultError.self) { _ = try fixture.open(in: FaultyFileSystem()) }
        #expect(error.code == .locked)
        #expect(error.description.contains("chmod 600 \(location.keyFile)"))
        #expect(!fixture.isThere(location.vault))
    }

    @Test func tellsOfAShortKeyFileAndOfOneBesideTheVault() throws {
        let location = VaultLocation(
            vault: fixture.folder.file("my.vault"), keyFile: fixture.folder.file("my.key"), rollbackMemory: nil)
        try overwrite(location.keyFile, Array("fifteen letters".utf8))
        let created = try Keychain.create(at: location).created
        #expect(created.keyFileIsShort && created.keyFileIsBesideVault)
        // Only of what was made.
        #expect(try Keychain(at: location).created == Keychain.Created())
    }

    @Test func refusesOneFileForVaultAndKey() throws {
        let location = VaultLocation(
            vault: fixture.folder.file("both"), keyFile: fixture.folder.file("./both"), rollbackMemory: nil)
        try expectRefusal(of: location, saying: "cannot be the same file")
        #expect(!fixture.isThere(location.vault))
    }

    @Test(arguments: ["~", "~/x.vault", "~ann/x.vault", "new/", "new/.", "new/..", "new//", "", "."])
    func refusesAPathThatCannotBeMeant(path: String) throws {
        let word = path.hasPrefix("~") ? "./\(path)" : "folder: \"\(path)\""
        try expectRefusal(of: VaultLocation(vault: path, keyFile: location.keyFile, rollbackMemory: nil), saying: word)
        try expectRefusal(of: VaultLocation(vault: location.vault, keyFile: path, rollbackMemory: nil), saying: word)
        #expect(!fixture.isThere("~") && !fixture.isThere("new"))
        #expect(!fixture.isThere(location.vault) && !fixture.isThere(location.keyFile))
    }

    @Test(arguments: ["/~/x", "/~x", "/x~", "/./~/x"])
    func takesATildeThatIsPartOfAName(path: String) throws {
        let location = VaultLocation(vault: fixture.folder.path + path, keyFile: location.keyFile, rollbackMemory: nil)
        #expect(try Keychain(at: location, creatingIfAbsent: true).created.vault)
    }

    private func expectRefusal(of location: VaultLocation, saying word: String) throws {
        for open in [
            { _ = try Keychain(at: location) }, { _ = try Keychain(at: location, creatingIfAbsent: true) },
            { _ = try Keychain.create(at: location) },
        ] {
            let error = try #require(throws: VaultError.self) { try open() }
            #expect(error.code == .invalid && error.description.contains(word))
        }
    }

    @Test func refusesAVaultAsKeyFile() throws {
        _ = try fixture.open()
        let other = VaultLocation(
            vault: fixture.folder.file("other.vault"), keyFile: location.vault, rollbackMemory: nil)
        let error = try #require(throws: VaultError.self) { _ = try Keychain(at: other, creatingIfAbsent: true) }
        #expect(error.code == .locked && error.description.contains("is a vault"))
        #expect(!fixture.isThere(other.vault))
    }

    @Test func whatAGuessCostsIsChosenAndRaisedAndNeverLowered() throws {
        try PosixFileSystem().makeFolder(fixture.folder.file("config"))
        try overwrite(location.keyFile, Array("a passphrase in a file".utf8))
        let small = Keychain.KeyFileCost(passes: 1, memory: 1 << 20)
        let keychain = try Keychain.create(at: location, label: "laptop", cost: small, replacingGone: false)
        #expect(try keychain.vaultKeys.all().map(\.cost) == [small])
        try keychain.set("a", to: "x")
        let higher = Keychain.KeyFileCost(passes: 2, memory: 1 << 20)
        try keychain.maintenance.compact(raisingCostTo: higher)
        let raised = try Keychain(at: location)
        #expect(try raised.unsafeString("a") == "x")
        let slot = try #require(try raised.vaultKeys.all().first)
        #expect(slot.cost == higher && slot.label == "laptop")
        for cost in [
            higher, small, Keychain.KeyFileCost(passes: 11, memory: 1 << 20),
            Keychain.KeyFileCost(passes: 2, memory: 512 << 20),
        ] {
            #expect(try VaultError.code { try raised.maintenance.compact(raisingCostTo: cost) } == .invalid)
            #expect(try VaultError.code { try keychain.maintenance.compact(raisingCostTo: cost) } == .invalid)
        }
        for cost in [Keychain.KeyFileCost(passes: 0, memory: 1 << 20), Keychain.KeyFileCost(passes: -1, memory: -1)] {
            let other = VaultLocation(
                vault: fixture.folder.file("o.vault"), keyFile: location.keyFile, rollbackMemory: nil)
            let create = { _ = try Keychain.create(at: other, cost: cost, replacingGone: false) }
            #expect(try VaultError.code(create) == .invalid)
        }
        #expect(try Keychain(at: location).vaultKeys.all().map(\.cost) == [higher])
    }

    @Test func aGeneratedKeyFileIsNotStretched() throws {
        let keychain = try fixture.open()
        #expect(try keychain.vaultKeys.all().map(\.cost) == [nil])
        #expect(try VaultError.code { try keychain.maintenance.compact(raisingCostTo: .standard) } == .invalid)
    }

    @Test func refusesALabelThatIsTooLong() throws {
        let label = String(repeating: "ü", count: 129)
        #expect(try VaultError.code { _ = try Keychain.create(at: location, label: label) } == .invalid)
        #expect(!fixture.isThere(location.vault))
    }

    @Test func worksWithBothInOneFolder() throws {
        let folder = fixture.folder.file("both")
        let location = VaultLocation(vault: folder + "/vault", keyFile: folder + "/key", rollbackMemory: nil)
        try Keychain(at: location, creatingIfAbsent: true).set("a", to: "x")
        #expect(try Keychain(at: location).unsafeString("a") == "x")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["key", "vault"])
        #expect(try !Keychain(at: location).maintenance.information().memoryIsKept)
    }

    @Test func followsALinkAndLeavesItThere() throws {
        try fixture.open().set("a", to: "x")
        let link = fixture.folder.file("link.vault")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: location.vault)
        let keychain = try Keychain(
            at: VaultLocation(vault: link, keyFile: location.keyFile, rollbackMemory: location.rollbackMemory),
            creatingIfAbsent: true)
        try keychain.set("b", to: "y")
        try keychain.maintenance.compact()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == location.vault)
        #expect(try Keychain(at: location).keys() == ["a", "b"])
    }

    @Test func aVaultThatIsRememberedAndGoneIsNotMadeAnewInSilence() throws {
        try fixture.open().set("a", to: "x")
        let bytes = try contents(location.vault)
        try FileManager.default.removeItem(atPath: location.vault)
        let error = try #require(throws: VaultError.self) { _ = try fixture.open() }
        #expect(error.code == .gone)
        #expect(error.description.contains(location.vault))
        #expect(!fixture.isThere(location.vault))
        #expect(try VaultError.code { _ = try Keychain(at: location) } == .gone)
        #expect(
            try VaultError.code { _ = try Keychain.create(at: location, cost: .standard, replacingGone: false) }
                == .gone)
        #expect(!fixture.isThere(location.vault))
        // Put back it is as it was; or a new one is made, if that is what is wanted.
        try overwrite(location.vault, bytes)
        #expect(try fixture.open().unsafeString("a") == "x")
        try FileManager.default.removeItem(atPath: location.vault)
        #expect(try Keychain.create(at: location).keys().isEmpty)
        #expect(try fixture.open().keys().isEmpty)
    }

    @Test func aKeyFileIsNotCreatedWhereSecretsAreMountedUnlessItIsAskedFor() throws {
        var location = location
        location.secretFolders = [location.keyFile.parentFolder]
        let error = try #require(throws: VaultError.self) { _ = try Keychain(at: location, creatingIfAbsent: true) }
        #expect(error.code == .locked && error.message.contains(location.keyFile))
        #expect(!fixture.isThere(location.vault) && !fixture.isThere(location.keyFile))
        #expect(try Keychain.create(at: location).vaultKeys.hasCreatedKeyFile)
        #expect(try Keychain(at: location, creatingIfAbsent: true).keys().isEmpty)
    }

    /// Between looking for a vault and taking the lock to make one, another process makes it.
    @Test func aVaultThatAnotherMakesAtTheSameTimeIsOpened() throws {
        let files = FaultyFileSystem()
        let hasMade = Flag()
        files.watch(.open) { [fixture] call in
            // Whoever goes for the folder's lock has found no vault.
            guard call.path == fixture.location.vault.parentFolder, !hasMade.isSet else { return }
            hasMade.set()
            try? fixture.open().set("a", to: "the other's")
        }
        let opened = try Keychain(at: location, creatingIfAbsent: true, in: files)
        #expect(hasMade.isSet)
        #expect(opened.created == Keychain.Created())
        #expect(try fixture.open().unsafeString("a") == "the other's")
    }
}
