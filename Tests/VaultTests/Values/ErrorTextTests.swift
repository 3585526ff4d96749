import Foundation
import Testing
import Vault
import VaultTesting

@Suite("What errors say", .temporaryStores)
struct ErrorTextTests {
    @Test func foundationShowsOurSentence() {
        let errors: [(any Error, String)] = [
            (VaultError(.busy, "Another process holds /v. Try again."), "Another process holds /v. Try again.")
        ]
        for (error, sentence) in errors {
            #expect(error.localizedDescription == sentence)
            #expect("\(error)" == sentence)
        }
    }

    @Test(arguments: ["", "a\n", String(repeating: "x", count: 1_025)]) func aKeyIsNoName(_ text: String) async throws {
        let stores: [any ValueStore & DataStore] = [
            try Keychain.standard, Preferences.standard, MemoryStore.standard, MemoryStore.standard.scoped(to: "user"),
        ]
        var calls: [() async throws -> Void] = [
            { _ = try Preferences.standard.value(of: text) },
            { _ = try Preferences.standard.commit(StoreBatch([text: .null])) },
        ]
        for store in stores {
            let key = Storable<Int>(text, in: store.reference)
            calls += [
                { _ = try await key.read() }, { try await key.write(1) }, { _ = try await key.exists() },
                { try await key.update { $0 = 1 } }, { try await store.write(1, for: text) },
                { _ = try await store.read(text, as: Int.self) }, { try await store.remove(text) },
            ]
        }
        for call in calls {
            let error = try #require(await #expect(throws: VaultError.self) { try await call() })
            #expect(error.code == .invalid && error.message.hasPrefix("Invalid key: "))
        }
        let error = #expect(throws: VaultError.self) { _ = try Keychain.standard.get(text) }
        #expect(error?.message.hasPrefix("Invalid name: ") == true)
    }
}

extension ValueStore {
    fileprivate var reference: StoreReference { .store(self) }
}
