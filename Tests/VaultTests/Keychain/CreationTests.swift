import Foundation
import LinuxSystem
import SealedLog
import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("Making a vault")
struct CreationTests {
    private let fixture: KeychainFixture
    private var places: VaultPlaces { fixture.places }

    init() throws {
        fixture = try KeychainFixture()
    }

    private func mode(_ path: String) throws -> UInt32 { try PosixFileSystem().status(at: path).mode }

    @Test func makesAVaultAndAKeyForTheirOwnerAlone() throws {
        let first = try fixture.open()
        #expect(first.created == Keychain.Created(vault: true, keyFile: true))
        #expect(try mode(places.vault) == 0o600)
        #expect(try mode(places.keyFile) == 0o600)
        for folder in ["data", "config", "state"] { #expect(try mode(fixture.folder.file(folder)) == 0o700) }
        #expect(try fixture.open().created == Keychain.Created())
    }

    @Test func comesAboutOnlyIfItIsAskedFor() throws {
        #expect(try VaultError.code { _ = try Keychain(at: places) } == .noVault)
        #expect(!fixture.isThere(places.vault) && !fixture.isThere(places.keyFile))
    }

    @Test func neverReplacesAVault() throws {
        try fixture.open().set("a", to: "x")
        let before = try contents(places.vault)
        #expect(try VaultError.code { _ = try Keychain.create(at: places) } == .exists)
        #expect(try contents(places.vault) == before)
        #expect(try fixture.open().unsafeString("a") == "x")
    }

    @Test func neverReplacesAVaultWhoseKeyIsMissingOrAnotherOne() throws {
        try fixture.open().set("a", to: "x")
        let before = try contents(places.vault)
        let key = try contents(places.keyFile)
        try FileManager.default.removeItem(atPath: places.keyFile)
        for _ in 0..<2 {
            let error = try #require(throws: VaultError.self) { _ = try fixture.open() }
            #expect(error.code == .locked)
            #expect(error.description.contains(places.keyFile))
        }
        #expect(try VaultError.code { _ = try Keychain.create(at: places) } == .exists)
        #expect(!fixture.isThere(places.keyFile))

        let other = try KeychainFixture()
        _ = try other.open()
        try overwrite(places.keyFile, try contents(other.places.keyFile))
        #expect(try VaultError.code { _ = try fixture.open() } == .locked)
        try overwrite(places.keyFile, [])
        #expect(try VaultError.code { _ = try fixture.open() } == .locked)
        #expect(try contents(places.vault) == before)

        try overwrite(places.keyFile, key)
        #expect(try fixture.open().unsafeString("a") == "x")
    }

    @Test func neverReplacesWhatIsNoVault() throws {
        try PosixFileSystem().makeFolder(fixture.folder.file("data"))
        _ = try KeychainFixture().open()
        for bytes in [[], Array("not a vault".utf8), [UInt8](repeating: 0, count: 8_192)] as [[UInt8]] {
            try overwrite(places.vault, bytes)
            #expect(try VaultError.code { _ = try fixture.open() } == .damaged)
            #expect(try VaultError.code { _ = try Keychain.create(at: places) } == .exists)
            #expect(try contents(places.vault) == bytes)
        }
        try FileManager.default.removeItem(atPath: places.vault)
        try FileManager.default.createDirectory(atPath: places.vault, withIntermediateDirectories: true)
        #expect(throws: VaultError.self) { _ = try fixture.open() }
    }

    @Test func usesTheKeyFileThatIsThere() throws {
        try PosixFileSystem().makeFolder(fixture.folder.file("config"))
        try overwrite(places.keyFile, Array("a passphrase in a file".utf8))
        let keychain = try Keychain.create(at: places, label: "the laptop's")
        #expect(keychain.created == Keychain.Created(vault: true, keyFile: false))
        #expect(!keychain.created.keyFileIsShort && !keychain.created.keyFileIsBesideVault)
        let keys = try keychain.vaultKeys()
        #expect(keys.map(\.kind) == [.otherFile] && keys.map(\.label) == ["the laptop's"])
        #expect(try contents(places.keyFile) == Array("a passphrase in a file".utf8))
    }

    @Test func doesNotUseAKeyFileThatOthersCanRead() throws {
        try PosixFileSystem().makeFolder(fixture.folder.file("config"))
        try overwrite(places.keyFile, Array("a passphrase in a file".utf8))
        try setMode(places.keyFile, 0o644)
        let error = try #require(throws: VaultError.self) { _ = try fixture.open(in: FaultyFileSystem()) }
        #expect(error.code == .locked)
        #expect(error.description.contains("chmod 600 \(places.keyFile)"))
        #expect(!fixture.isThere(places.vault))
    }

    @Test func tellsOfAShortKeyFileAndOfOneBesideTheVault() throws {
        let places = VaultPlaces(
            vault: fixture.folder.file("my.vault"), keyFile: fixture.folder.file("my.key"), rollbackMemory: nil)
        try overwrite(places.keyFile, Array("fifteen letters".utf8))
        let created = try Keychain.create(at: places).created
        #expect(created.keyFileIsShort && created.keyFileIsBesideVault)
        // Only of what was made.
        #expect(try Keychain(at: places).created == Keychain.Created())
    }

    @Test func refusesOneFileForVaultAndKey() throws {
        let places = VaultPlaces(
            vault: fixture.folder.file("both"), keyFile: fixture.folder.file("./both"), rollbackMemory: nil)
        try expectRefusal(of: places, saying: "cannot be one file")
        #expect(!fixture.isThere(places.vault))
    }

    @Test(arguments: ["~", "~/x.vault", "~ann/x.vault", "new/", "new/.", "new/..", "new//", "", "."])
    func refusesAPathThatCannotBeMeant(path: String) throws {
        let word = path.hasPrefix("~") ? "./\(path)" : "folder: \"\(path)\""
        try expectRefusal(of: VaultPlaces(vault: path, keyFile: places.keyFile, rollbackMemory: nil), saying: word)
        try expectRefusal(of: VaultPlaces(vault: places.vault, keyFile: path, rollbackMemory: nil), saying: word)
        #expect(!fixture.isThere("~") && !fixture.isThere("new"))
        #expect(!fixture.isThere(places.vault) && !fixture.isThere(places.keyFile))
    }

    @Test(arguments: ["/~/x", "/~x", "/x~", "/./~/x"])
    func takesATildeThatIsPartOfAName(path: String) throws {
        let places = VaultPlaces(vault: fixture.folder.path + path, keyFile: places.keyFile, rollbackMemory: nil)
        #expect(try Keychain(at: places, creatingIfAbsent: true).created.vault)
    }

    private func expectRefusal(of places: VaultPlaces, saying word: String) throws {
        for open in [
            { _ = try Keychain(at: places) }, { _ = try Keychain(at: places, creatingIfAbsent: true) },
            { _ = try Keychain.create(at: places) },
        ] {
            let error = try #require(throws: VaultError.self) { try open() }
            #expect(error.code == .invalid && error.description.contains(word))
        }
    }

    @Test func refusesAVaultAsKeyFile() throws {
        _ = try fixture.open()
        let other = VaultPlaces(vault: fixture.folder.file("other.vault"), keyFile: places.vault, rollbackMemory: nil)
        let error = try #require(throws: VaultError.self) { _ = try Keychain(at: other, creatingIfAbsent: true) }
        #expect(error.code == .locked && error.description.contains("is a vault"))
        #expect(!fixture.isThere(other.vault))
    }

    @Test func whatAGuessCostsIsChosenAndRaisedAndNeverLowered() throws {
        try PosixFileSystem().makeFolder(fixture.folder.file("config"))
        try overwrite(places.keyFile, Array("a passphrase in a file".utf8))
        let small = Keychain.KeyFileCost(passes: 1, memory: 1 << 20)
        let keychain = try Keychain.create(at: places, label: "laptop", cost: small, replacingGone: false)
        #expect(try keychain.information().keySlots.map(\.cost) == [small])
        try keychain.set("a", to: "x")
        let higher = Keychain.KeyFileCost(passes: 2, memory: 1 << 20)
        try keychain.compact(raisingCostTo: higher)
        let raised = try Keychain(at: places)
        #expect(try raised.unsafeString("a") == "x")
        let slot = try #require(try raised.information().keySlots.first)
        #expect(slot.cost == higher && slot.label == "laptop")
        for cost in [
            higher, small, Keychain.KeyFileCost(passes: 11, memory: 1 << 20),
            Keychain.KeyFileCost(passes: 2, memory: 512 << 20),
        ] {
            #expect(try VaultError.code { try raised.compact(raisingCostTo: cost) } == .invalid)
            #expect(try VaultError.code { try keychain.compact(raisingCostTo: cost) } == .invalid)
        }
        for cost in [Keychain.KeyFileCost(passes: 0, memory: 1 << 20), Keychain.KeyFileCost(passes: -1, memory: -1)] {
            let other = VaultPlaces(vault: fixture.folder.file("o.vault"), keyFile: places.keyFile, rollbackMemory: nil)
            let create = { _ = try Keychain.create(at: other, cost: cost, replacingGone: false) }
            #expect(try VaultError.code(create) == .invalid)
        }
        #expect(try Keychain(at: places).information().keySlots.map(\.cost) == [higher])
    }

    @Test func aGeneratedKeyFileIsNotStretched() throws {
        let keychain = try fixture.open()
        #expect(try keychain.information().keySlots.map(\.cost) == [nil])
        #expect(try VaultError.code { try keychain.compact(raisingCostTo: .standard) } == .invalid)
    }

    @Test func refusesALabelThatIsTooLong() throws {
        let label = String(repeating: "ü", count: 129)
        #expect(try VaultError.code { _ = try Keychain.create(at: places, label: label) } == .invalid)
        #expect(!fixture.isThere(places.vault))
    }

    @Test func worksWithBothInOneFolder() throws {
        let folder = fixture.folder.file("both")
        let places = VaultPlaces(vault: folder + "/vault", keyFile: folder + "/key", rollbackMemory: nil)
        try Keychain(at: places, creatingIfAbsent: true).set("a", to: "x")
        #expect(try Keychain(at: places).unsafeString("a") == "x")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["key", "vault"])
        #expect(try !Keychain(at: places).information().memoryIsKept)
    }

    @Test func followsALinkAndLeavesItThere() throws {
        try fixture.open().set("a", to: "x")
        let link = fixture.folder.file("link.vault")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: places.vault)
        let keychain = try Keychain(
            at: VaultPlaces(vault: link, keyFile: places.keyFile, rollbackMemory: places.rollbackMemory),
            creatingIfAbsent: true)
        try keychain.set("b", to: "y")
        try keychain.compact()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == places.vault)
        #expect(try Keychain(at: places).keys() == ["a", "b"])
    }

    @Test func aVaultThatIsRememberedAndGoneIsNotMadeAnewInSilence() throws {
        try fixture.open().set("a", to: "x")
        let bytes = try contents(places.vault)
        try FileManager.default.removeItem(atPath: places.vault)
        let error = try #require(throws: VaultError.self) { _ = try fixture.open() }
        #expect(error.code == .gone)
        #expect(error.description.contains(places.vault))
        #expect(!fixture.isThere(places.vault))
        #expect(try VaultError.code { _ = try Keychain(at: places) } == .gone)
        #expect(
            try VaultError.code { _ = try Keychain.create(at: places, cost: .standard, replacingGone: false) } == .gone)
        #expect(!fixture.isThere(places.vault))
        // Put back it is as it was; or a new one is made, if that is what is wanted.
        try overwrite(places.vault, bytes)
        #expect(try fixture.open().unsafeString("a") == "x")
        try FileManager.default.removeItem(atPath: places.vault)
        #expect(try Keychain.create(at: places).keys().isEmpty)
        #expect(try fixture.open().keys().isEmpty)
    }

    @Test func aKeyFileIsNotCreatedWhereSecretsAreMountedUnlessItIsAskedFor() throws {
        var places = places
        places.secretFolders = [places.keyFile.parentFolder]
        let error = try #require(throws: VaultError.self) { _ = try Keychain(at: places, creatingIfAbsent: true) }
        #expect(error.code == .locked && error.message.contains(places.keyFile))
        #expect(!fixture.isThere(places.vault) && !fixture.isThere(places.keyFile))
        #expect(try Keychain.create(at: places).hasCreatedKeyFile)
        #expect(try Keychain(at: places, creatingIfAbsent: true).keys().isEmpty)
    }

    /// Between looking for a vault and taking the lock to make one, another process makes it.
    @Test func aVaultThatAnotherMakesAtTheSameTimeIsOpened() throws {
        let files = FaultyFileSystem()
        let hasMade = Flag()
        files.watch(.open) { [fixture] call in
            // Whoever goes for the folder's lock has found no vault.
            guard call.path == fixture.places.vault.parentFolder, !hasMade.isSet else { return }
            hasMade.set()
            try? fixture.open().set("a", to: "the other's")
        }
        let opened = try Keychain(at: places, creatingIfAbsent: true, in: files)
        #expect(hasMade.isSet)
        #expect(opened.created == Keychain.Created())
        #expect(try fixture.open().unsafeString("a") == "the other's")
    }
}
