import Foundation
import Glibc
import LinuxSystem
import SealedLog
import TestSupport
import Testing
import Vault
import VaultTesting

@testable import VaultShared

@Suite("The location of a vault in a database")
struct DatabaseLocationTests {
    @Test func isNamedByItsURL() throws {
        let url = "postgresql://localhost/any#team"
        let location = try VaultLocation.database(url, keyFile: "/any/key")
        #expect(location.isInDatabase && location.vault == url && location.keyFile == "/any/key")
        #expect(try location.databasePreparation()?.contains("CREATE TABLE") == true)
        for other in ["/any/vault", "host=localhost dbname=any", "postgresql://localhost#team"] {
            #expect(try VaultError.code { _ = try VaultLocation.database(other) } == .invalid)
        }
    }

    @Test func isNamedByTheEnvironmentOfAProgramThatOpensDatabases() throws {
        let environment = ["VAULT_FILE": "postgresql://localhost/any#team", "HOME": "/home/mia"]
        let location = try VaultLocation.standard(environment: environment, databases: .postgreSQL)
        #expect(try location.databasePreparation() != nil)
        let closed = try VaultLocation.standard(environment: environment)
        let error = #expect(throws: VaultError.self) { _ = try Keychain(at: closed) }
        #expect(error?.code == .unavailable && error?.message.contains("import VaultShared") == true)
    }

    /// A server that is put back to an older state, and then to the newer one again.
    @Test(.needsServer) func whatIsPutBackIsReadToItsEnd() throws {
        let fixture = try DatabaseFixture()
        let keychain = try fixture.open()
        try keychain.set("a", to: "first")
        let storeLocation = try PostgresLocation(
            fixture.url, fixture.location(machine: "other"), StoreOptions(), in: PosixFileSystem())
        let store = try #require(try storeLocation.open(.fresh) as? PostgresRecordStore)
        let head = store.state.withLock { $0.head }
        let foreign = StoreHead(generation: head.generation + 1, position: head.position, size: 1, hint: nil)
        store.state.withLock { $0.update(foreign, StoreBytes(offset: head.size), of: store.generation) }
        #expect(try store.size() == head.size, "those who are reading it go on")
        try keychain.set("a", to: "second")
        guard case .some = try store.growth(after: head.size, head.position) else {
            return #expect(Bool(false), "it has not seen the change")
        }
        #expect(try store.size() > head.size)
    }

    /// Root would create files in another user's home, where that user could not write them.
    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"), arguments: [true, false])
    func noCopyIsKeptInAHomeOfAnotherUser(isAnothers: Bool) throws {
        let folder = try TemporaryFolder()
        let home = folder.file("home")
        try #require(mkdir(home, 0o755) == 0)
        if isAnothers { try #require(chown(home, 65_534, 65_533) == 0) }
        var location = VaultLocation(
            vault: "postgresql://localhost/any#team", keyFile: "/any/key", rollbackMemory: "\(home)/state")
        location.cache = folder.file("cache")
        let storeLocation = try PostgresLocation(location.vault, location, StoreOptions(), in: PosixFileSystem())
        let position = LogPosition(sequence: 1, authenticator: .zero)
        let head = StoreHead(generation: 2, position: position, size: 3, hint: nil)
        storeLocation.mirror?.keep(head, [StoreBytes(offset: 0, bytes: [7, 8, 9])], isNew: true)
        try storeLocation.keepCopy { _ in 3 }
        let folders = storeLocation.takeNotices().map { notice in
            if case .copyKept(let path, true) = notice { path.parentFolder } else { "" }
        }
        #expect(folders == [isAnothers ? folder.file("cache") : "\(home)/state"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: home).isEmpty == isAnothers)
    }
}
