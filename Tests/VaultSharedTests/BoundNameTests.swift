import Foundation
import LinuxSystem
import TestSupport
import Testing
import Vault

@testable import SealedFormat
@testable import SealedLog
@testable import VaultShared

/// A server holds several vaults under one key, and shows one for another.
@Suite("The name of a vault in a database", .needsServer, .timeLimit(.minutes(10)))
struct BoundNameTests {
    private let team: DatabaseFixture
    /// Another vault on the same server, of the same key.
    private let other: DatabaseFixture

    init() throws {
        team = try DatabaseFixture()
        other = try DatabaseFixture()
        try team.open().set("host", to: "production")
        try FileManager.default.copyItem(atPath: team.folder.file("key"), toPath: other.folder.file("key"))
    }

    private func makeOther() throws {
        try other.open().set("host", to: "development")
    }

    /// Lets the row of one vault lead to what another one has.
    private func show(_ shown: DatabaseFixture, as asked: DatabaseFixture) throws {
        let storeLocation = try asked.storeLocation()
        _ = try storeLocation.flight([
            Statement("DELETE FROM vault.head WHERE name = $1", .bytes(storeLocation.name)),
            Statement(
                """
                INSERT INTO vault.head (name, generation, sequence, authenticator, size, base, hint_offset, hint_sequence)
                SELECT $1, generation, sequence, authenticator, size, base, hint_offset, hint_sequence FROM vault.head
                WHERE name = $2
                """, .bytes(storeLocation.name), .bytes(try shown.storeLocation().name)),
        ])
    }

    private func isRefused(_ call: () throws -> Void, _ location: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: VaultError.self, sourceLocation: location) { try call() }
        #expect(error?.code == .exchanged && error?.causes == [.otherName], sourceLocation: location)
    }

    @Test(arguments: ["new", "one"]) func isNotThatOfAnotherVault(machine: String) throws {
        try makeOther()
        let early = try team.open(machine: "early")
        #expect(try early.unsafeString("host") == "production")
        try show(other, as: team)
        isRefused { _ = try Keychain(at: team.location(machine: machine)).get("host") }
        isRefused { try Keychain(at: team.location(machine: machine)).set("host", to: "mine") }
        isRefused { _ = try early.get("host") }
        isRefused { try early.set("host", to: "mine") }
        var options = Keychain.Options()
        options.acceptedAlarms = [.rolledBack, .diverged, .exchanged]
        isRefused { _ = try Keychain(at: team.location(machine: machine), options: options).get("host") }
        isRefused {
            _ = try Keychain.Maintenance.salvage(from: team.location(machine: "new"), to: team.folder.file("salvaged"))
        }
        #expect(try other.open().unsafeString("host") == "development", "it has its own name still")
        #expect(throws: VaultError.self) { try other.open().copies.backUp(to: team.url, replacing: true) }
    }

    /// A file may be renamed, but it has no name that a database could show.
    @Test func isNotThatOfAFile() throws {
        let path = team.folder.file("file.vault")
        try Keychain(
            at: VaultLocation(vault: path, keyFile: team.folder.file("key"), rollbackMemory: nil),
            creatingIfAbsent: true
        ).set("host", to: "a file")
        let storeLocation = try team.storeLocation()
        let bytes = try contents(path)
        var unlocker = unlocker(team)
        let file = FileLocation(path, in: PosixFileSystem())
        let log = try SealedLog.open(file, options: SealedLog.Options(), with: &unlocker)
        let (end, head) = log.view.withLock { ($0.end, $0.head) }
        _ = try storeLocation.flight([
            Statement("DELETE FROM vault.head WHERE name = $1", .bytes(storeLocation.name)),
            .insertExtent(17, at: 0, bytes[..<Int(end)]),
            .create(storeLocation.name, StoreHead(generation: 17, position: head, size: end, hint: nil)),
        ])
        defer { _ = try? storeLocation.flight(Statement.discard(17)) }
        isRefused { _ = try Keychain(at: team.location(machine: "new")) }
    }

    private func unlocker(_ fixture: DatabaseFixture) -> KeyFileUnlocker {
        KeyFileUnlocker { () throws(LogError) in
            try KeyFile.read(fixture.folder.file("key"), secretFolders: [], in: PosixFileSystem())
        }
    }

    /// What follows the copy under either name is no part of the other one, although both have one header.
    @Test func isThatOfACopyFromThenOn() throws {
        try team.open().copies.backUp(to: other.url)
        #expect(try other.open().unsafeString("host") == "production")
        let common = try #require(try team.storeLocation().currentHead())
        let start = try #require(try other.storeLocation().currentHead())
        #expect(common.position == start.position && common.size == start.size, "it is the same history")
        try team.open().set("host", to: "later")
        try other.open(machine: "others").set("host", to: "development")
        // The generation of the one, with its own header, goes on with the records of the other.
        let storeLocation = try team.storeLocation()
        let head = try #require(try other.storeLocation().currentHead())
        _ = try storeLocation.flight([
            Statement(
                "DELETE FROM vault.extent WHERE generation = $1 AND first_byte >= $2", .number(common.generation),
                .number(common.size)),
            Statement(
                """
                INSERT INTO vault.extent (generation, first_byte, bytes)
                SELECT $1, first_byte, bytes FROM vault.extent WHERE generation = $2 AND first_byte >= $3
                """, .number(common.generation), .number(head.generation), .number(common.size)),
            Statement(
                "UPDATE vault.head SET sequence = $2, authenticator = $3, size = $4 WHERE name = $1",
                .bytes(storeLocation.name), .number(head.position.sequence), .bytes(head.position.authenticator.bytes),
                .number(head.size)),
        ])
        let error = #expect(throws: VaultError.self) { _ = try Keychain(at: team.location(machine: "new")) }
        #expect(error?.code == .damaged && error?.message.contains("another name") == true)
        try show(other, as: team)
        isRefused { _ = try Keychain(at: team.location(machine: "new")) }
    }

    @Test func staysWithAllThatIsDoneToTheVault() throws {
        let keychain = try team.open()
        for number in 0..<3 { try keychain.set("n \(number)", to: "1") }
        try keychain.maintenance.compact()
        try isWhole(team)
        _ = try keychain.vaultKeys.rotateDataKey(dropping: [])
        try isWhole(team)
        // To a file and back: byte by byte.
        let file = team.folder.file("copy.vault")
        try keychain.copies.backUp(to: file)
        let storeLocation = try team.storeLocation()
        let head = try #require(try storeLocation.currentHead())
        _ = try storeLocation.flight([Statement("DELETE FROM vault.head WHERE name = $1", .bytes(storeLocation.name))])
        var location = VaultLocation(vault: file, keyFile: team.folder.file("key"), rollbackMemory: nil)
        location.databases = .postgreSQL
        try Keychain(at: location).copies.backUp(to: team.url)
        #expect(try storeLocation.currentHead()?.position == head.position)
        try isWhole(team)
        // A file of its own, which had another name, becomes a vault with this one.
        try Keychain(at: location).set("from the file", to: "2")
        try Keychain(at: location).copies.backUp(to: other.url)
        try isWhole(other)
        try Keychain(at: location).copies.merge(team.url)
        try Keychain(at: location).copies.backUp(to: team.url, replacing: true)
        try isWhole(team)
        #expect(try team.open().unsafeString("from the file") == "2")
    }

    /// A copy of the vault is merged, whatever name it has.
    @Test func keepsNoCopyFromBeingMerged() throws {
        try team.open().copies.backUp(to: other.url)
        try other.open().set("there", to: "1")
        let file = team.folder.file("copy.vault")
        try other.open().copies.backUp(to: file)
        try team.open().set("here", to: "2")
        try team.open(machine: "two").copies.merge(file)
        #expect(try team.open(machine: "two").keys() == ["here", "host", "there"])
        try isWhole(team)
    }

    @Test func isThatOfWhatWaitsForTheServer() throws {
        _ = try team.open().maintenance.verify()
        try team.openOffline().set("offline", to: "1")
        let pending = try #require(try team.storeLocation().pending())
        let store = try pending.open(.fresh)
        #expect(store.vaultName == (try team.storeLocation().name))
        #expect(try HeaderImage(of: store).header.get().name?.hash == store.vaultName)
        _ = try team.openOffline().maintenance.compact()
        #expect(try team.openOffline().unsafeString("offline") == "1")
        #expect(try team.open().unsafeString("offline") == "1")
        try isWhole(team)
        // Another vault's pending changes are none of this one's.
        try makeOther()
        let foreign = try other.storeLocation()
        _ = try other.open().maintenance.verify()
        try other.openOffline().set("offline", to: "2")
        let path = try #require(foreign.pending()?.path)
        let target = try #require(try team.storeLocation().pendingPath)
        try FileManager.default.moveItem(atPath: path, toPath: target)
        isRefused { _ = try team.openOffline().get("host") }
    }

    private func isWhole(_ fixture: DatabaseFixture) throws {
        let keychain = try Keychain(at: fixture.location(machine: "\(UInt32.random(in: 0 ... .max))"))
        try keychain.maintenance.verify()
        try keychain.set("after", to: "3")
        #expect(try keychain.unsafeString("after") == "3")
        let store = try fixture.storeLocation().open(.fresh)
        #expect(try HeaderImage(of: store).header.get().name?.hash == fixture.storeLocation().name)
    }
}
