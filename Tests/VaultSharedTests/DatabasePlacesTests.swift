import LinuxSystem
import TestSupport
import Testing
import Vault

@testable import VaultShared

@Suite("The place of a vault in a database")
struct DatabasePlacesTests {
    /// What finds the place must not grow with each time that it is asked.
    @Test func isFoundAsOftenAsAProgramOpensTheVault() throws {
        let places = VaultPlaces(vault: "postgresql://localhost/any#team", keyFile: "/any/key", rollbackMemory: nil)
        try onSmallStack {
            for _ in 0..<20_000 { _ = try places.databasePreparation() }
        }
    }

    /// A server that is put back to an older state, and then to the newer one again.
    @Test func whatIsPutBackIsReadToItsEnd() throws {
        let fixture = try DatabaseFixture()
        let keychain = try fixture.open()
        try keychain.set("a", to: "first")
        let place = try PostgresPlace(
            fixture.url, fixture.places(machine: "other"), Keychain.Options(), in: PosixFileSystem())
        let store = try #require(try place.open(.fresh) as? PostgresRecordStore)
        let head = store.state.withLock { $0.head }
        let foreign = StoreHead(generation: head.generation + 1, position: head.position, size: 1, hint: nil)
        store.state.withLock { $0.learn(foreign, StoreBytes(offset: head.size), of: store.generation) }
        #expect(try store.size() == head.size, "those who are reading it go on")
        try keychain.set("a", to: "second")
        guard case .some = try store.growth(after: head.size, head.position) else {
            return #expect(Bool(false), "it has not seen the change")
        }
        #expect(try store.size() > head.size)
    }
}
