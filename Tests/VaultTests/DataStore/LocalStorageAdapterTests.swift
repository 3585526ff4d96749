import Foundation
import Testing
import Vault
import VaultTesting

/// What a client library asks for, as Supabase's Auth does.
private protocol AuthLocalStorage: Sendable {
    func store(key: String, value: Data) throws
    func retrieve(key: String) throws -> Data?
    func remove(key: String) throws
}

extension LocalStorageAdapter: AuthLocalStorage {}

@Suite("Storage for client libraries", .temporaryStores)
struct LocalStorageAdapterTests {
    @Test func keepsDataUntilItIsRemoved() throws {
        for store in [try Keychain.standard, try MemoryStore.standard, try Keychain.standard.scoped(to: "auth")]
            as [any ValueStore]
        {
            let storage: any AuthLocalStorage = LocalStorageAdapter(in: store)
            #expect(try storage.retrieve(key: "session") == nil)
            try storage.store(key: "session", value: Data([0, 0xff]))
            try storage.store(key: "empty", value: Data())
            #expect(try storage.retrieve(key: "session") == Data([0, 0xff]))
            #expect(try storage.retrieve(key: "empty") == Data())
            #expect(try KeychainStorable<Data>(key: "session", in: store).read() == Data([0, 0xff]))
            try storage.remove(key: "session")
            try storage.remove(key: "session")
            #expect(try storage.retrieve(key: "session") == nil)
        }
    }

    @Test func isTheKeychainUnlessToldOtherwise() throws {
        try LocalStorageAdapter().store(key: "session", value: Data("canary".utf8))
        #expect(try Keychain.standard.unsafeString("session") == "canary")
        #expect(try LocalStorageAdapter().retrieve(key: "session") == Data("canary".utf8))
    }

    @Test func tellsItsErrorsApartFromAbsence() throws {
        let storage: any AuthLocalStorage = LocalStorageAdapter()
        try KeychainStorable<Int>(key: "session").write(1)
        #expect(throws: VaultError.self) { try storage.retrieve(key: "session") }
        #expect(throws: VaultError.self) { try storage.store(key: "", value: Data()) }
        #expect(throws: VaultError.self) { try storage.remove(key: "a\n") }
    }
}
