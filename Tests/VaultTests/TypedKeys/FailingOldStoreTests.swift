import Foundation
import TestSupport
import Testing

@testable import Vault

@Suite("An old store that cannot be asked", .temporaryStores)
struct FailingOldStoreTests {
    private let seen = SeenFailures()
    private let new: MemoryStore
    private let key: RAMStorable<String>

    init() {
        new = MemoryStore(failures: FailureLog(handler: seen.handler))
        key = RAMStorable(
            "k", in: .store(new),
            movedFrom: StoreReference { () throws(VaultError) in throw VaultError(.locked, "No key.") })
    }

    @Test func isPassedOverOnceTheNewOneHasTheValue() throws {
        _ = new.commit(StoreBatch(["k": .string("new")]))
        #expect(try key.read() == "new")
        #expect(try key.exists())
        try key.update { $0? += "er" }
        #expect(new.value(of: "k") == .string("newer"))
        // Reported, but only once.
        #expect(seen.all.map(\.code) == [.locked] && seen.keys == ["k"])
    }

    @Test func isAnErrorWhileTheNewOneHasNoValue() throws {
        #expect(try VaultError.code { _ = try key.read() } == .locked)
        #expect(try VaultError.code { _ = try key.exists() } == .locked)
        #expect(try VaultError.code { try key.update { $0? += "!" } } == .locked)
        #expect(seen.all.isEmpty)
    }

    @Test func doesNotKeepAValueFromBeingWritten() throws {
        try key.write("new")
        #expect(try key.read() == "new")
        try new.atomically { try $0.write("newer", to: key) }
        #expect(new.value(of: "k") == .string("newer"))
    }

    @Test func keepsAValueFromBeingRemoved() throws {
        _ = new.commit(StoreBatch(["k": .string("new")]))
        #expect(try VaultError.code { try key.remove() } == .locked)
        #expect(try VaultError.code { try new.atomically { try $0.remove(key) } } == .locked)
        #expect(try VaultError.code { try key.update { $0 = nil } } == .locked)
        #expect(new.value(of: "k") == .string("new"))
    }

    @Test func isAlsoOneThatWasDamagedAfterTheMove() throws {
        try Storable<String>("k").write("secret")
        let moved = KeychainStorable<String>("k", movedFrom: .preferences)
        #expect(try moved.read() == "secret")
        try overwrite(Preferences.standard.path, "garbage".utf8)
        try Keychain.standard.failures.setHandler(seen.handler)
        #expect(try moved.read() == "secret")
        try moved.write(secret: SecretBytes(utf8: "other"))
        #expect(try moved.withSecret { $0.byteCount } == 5)
        #expect(try VaultError.code { try moved.remove() } == .damaged)
    }
}
