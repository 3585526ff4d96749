import Foundation
import LinuxSystem
import TestSupport
import Testing
import Vault

@testable import SealedFormat
@testable import SealedLog
@testable import VaultShared

/// The vault's row is deleted while programs have the vault open, or the machine remembers only a part.
@Suite("A vault that is gone from its database", .needsServer, .timeLimit(.minutes(10)))
struct GoneVaultTests {
    private func fixture() throws -> DatabaseFixture {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "1")
        return fixture
    }

    private func remove(_ fixture: DatabaseFixture) throws -> StoreHead {
        let storeLocation = try fixture.storeLocation()
        let head = try #require(try storeLocation.currentHead())
        _ = try storeLocation.flight([Statement("DELETE FROM vault.head WHERE name = $1", .bytes(storeLocation.name))])
        return head
    }

    @Test(arguments: [true, false]) func isMissedByAProgramThatHasItOpen(keepsCopy: Bool) throws {
        let fixture = try fixture()
        var location = fixture.location(machine: "other")
        if !keepsCopy { location.cache = nil }
        let keychain = try Keychain(at: location)
        #expect(try keychain.unsafeString("a") == "1")
        let head = try remove(fixture)
        for call in [
            { _ = try keychain.get("a") }, { try keychain.set("a", to: "2") }, { _ = try keychain.keys() },
            { try keychain.remove("a") }, { try keychain.maintenance.verify() },
            { _ = try keychain.maintenance.compact() },
        ] {
            let error = #expect(throws: VaultError.self) { try call() }
            #expect(error?.code == .gone && error?.message.contains("from its database") == true)
        }
        let storeLocation = try fixture.storeLocation()
        _ = try storeLocation.flight([.create(storeLocation.name, head)])
        #expect(try keychain.unsafeString("a") == "1")
        try keychain.set("a", to: "2")
    }

    /// A program without a rollback memory knows it by its copy, once it asks the database; one without a copy by the
    /// memory.
    @Test(arguments: [true, false]) func isRememberedByCopyOrMemory(byCopy: Bool) throws {
        let fixture = try fixture()
        var location = fixture.location()
        if byCopy { location.rollbackMemory = nil } else { location.cache = nil }
        _ = try remove(fixture)
        for isCreating in [true, false] {
            #expect(try code { _ = try Keychain(at: location, creatingIfAbsent: isCreating).get("a") } == .gone)
        }
        #expect(
            try code { _ = try Keychain.create(at: location, cost: .standard, replacingGone: false) } == .gone)
        #expect(try fixture.storeLocation().currentHead() == nil)
        let stranger = fixture.location(machine: "stranger")
        #expect(try code { _ = try Keychain(at: stranger) } == .noVault)
        #expect(try Keychain.create(at: location).keys().isEmpty, "it is asked for")
    }

    /// What this machine has kept could not be told from the vault any more.
    @Test func aDamagedCopyIsNotForgotten() throws {
        let fixture = try fixture()
        _ = try fixture.open().maintenance.verify()
        let storeLocation = try fixture.storeLocation()
        let store = try #require(try storeLocation.open(.quick) as? PostgresRecordStore)
        let head = try remove(fixture)
        store.state.withLock { $0.update(head, StoreBytes(offset: head.size), of: store.generation) }
        let error = #expect(throws: LogError.self) { _ = try store.distrust() }
        #expect(error?.code == .gone)
        #expect(try fixture.storeLocation().mirror?.completePath != nil)
    }

    private func code(_ body: () throws -> Void) throws -> VaultError.Code? {
        do { try body() } catch let error as VaultError { return error.code }
        return nil
    }
}
