import LinuxSystem
import TestSupport
import Testing
import Vault

/// Concurrent updates are among the rules.
@Suite("The conformance suite, and concurrent updates")
struct ConformanceConcurrencyTests {
    @Test func theKeychainKeepsTheRules() async throws {
        let made = Made()
        try await checkConformance { try made.stores().keychain }
    }

    @Test func thePreferencesKeepTheRules() async throws {
        let made = Made()
        try await checkConformance { try made.stores().preferences }
    }

    @Test func theMemoryStoreKeepsTheRules() async throws {
        try await checkConformance { MemoryStore() }
    }

    @Test func aScopeOfTheKeychainKeepsTheRules() async throws {
        let made = Made()
        // Each key is prefixed with the scope, its slash and percent sign encoded, and a slash.
        try await checkConformance(maximumKeySize: 1_024 - "a user%2Fwith 100%25/".utf8.count) {
            try made.stores().keychain.scoped(to: "a user/with 100%")
        }
    }

    @Test func aScopeOfThePreferencesKeepsTheRules() async throws {
        let made = Made()
        try await checkConformance(maximumKeySize: 1_024 - "user/".utf8.count) {
            try made.stores().preferences.scoped(to: "user")
        }
    }

    @Test func aScopeOfAScopeOfTheMemoryStoreKeepsTheRules() async throws {
        try await checkConformance { MemoryStore().scoped(to: "a").scoped(to: "b") }
    }

    @Test func whatTheMakerThrowsIsThrown() async throws {
        await #expect(throws: CancellationError.self) {
            try await checkConformance { () throws -> MemoryStore in throw CancellationError() }
        }
    }
}

/// Retains stores for as long as a test uses what is in them.
private final class Made: Sendable {
    private let all = Mutex<[TemporaryStores]>([])

    func stores() throws -> TemporaryStores {
        let stores = try TemporaryStores()
        all.withLock { $0.append(stores) }
        return stores
    }
}
