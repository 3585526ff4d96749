import Foundation
import LinuxSystem
import Testing
import Vault
import VaultTesting

private enum UserAction: String { case firstLogin, indicatorIndex }

@Suite("Keys that an enum lists", .temporaryStores)
struct EnumKeyTests {
    @Test func areTheKeysOfTheirRawValues() async throws {
        let store: any DataStore = Preferences.standard
        #expect(try await store.read(UserAction.firstLogin, as: Bool.self) == nil)
        try await store.write(true, for: UserAction.firstLogin)
        #expect(try await store.read(UserAction.firstLogin, as: Bool.self) == true)
        #expect(try await store.read(UserAction.indicatorIndex, as: Int.self) == nil)
        #expect(try await Storable<Bool>("firstLogin").read() == true)
        try await store.remove(UserAction.firstLogin)
        #expect(try await store.read(UserAction.firstLogin, as: Bool.self) == nil)
    }

    @Test func haveTypes() async throws {
        let store = try Keychain.standard
        try await store.write(3, for: UserAction.indicatorIndex)
        let error = await #expect(throws: VaultError.self) {
            try await store.read(UserAction.indicatorIndex, as: Bool.self)
        }
        #expect(error?.code == .wrongType)
    }

    private static let users = [
        "a", "b", "a/b", "a%2Fb", "a%252Fb", "/", "//", "", "..", "../a", ".", "%", "%2F", "a/", "a/\u{308}b", "ü", "😀",
        "a b",
        "firstLogin",
    ]

    private func expectApart(_ stores: [any DataStore]) async throws {
        for (index, own) in stores.enumerated() {
            #expect(try await own.read(UserAction.indicatorIndex, as: Int.self) == nil)
            try await own.write(index, for: UserAction.indicatorIndex)
        }
        for (index, own) in stores.enumerated() {
            #expect(try await own.read(UserAction.indicatorIndex, as: Int.self) == index)
        }
        try await stores[0].remove(UserAction.indicatorIndex)
        for own in stores.dropFirst() { #expect(try await own.read(UserAction.indicatorIndex, as: Int.self) != nil) }
    }

    @Test func ofOneUserAreNotThoseOfAnother() async throws {
        for store in [try Keychain.standard, Preferences.standard, MemoryStore.standard] as [any ValueStore] {
            let scopes = EnumKeyTests.users.map { store.scoped(to: $0) }
            try await expectApart(scopes)
            for scope in scopes.dropFirst() { #expect(try scope.keys(prefix: "") == ["indicatorIndex"]) }
        }
    }

    @Test func ofAUserAreNotReachedByAKeyThatLooksLikeTheirs() async throws {
        let store = MemoryStore()
        try await store.scoped(to: "a/\u{308}b").write(1, for: "k")
        try await store.scoped(to: "b").write(2, for: "k")
        let attacker = store.scoped(to: "a")
        for key in ["\u{308}b/k", "../b/k", "/b/k", "b/k"] {
            #expect(try await attacker.read(key, as: Int.self) == nil)
        }
        #expect(try attacker.keys(prefix: "") == [])
    }

    @Test func ofAUsersOwnSuiteAreNotThoseOfAnother() async throws {
        // Files of their own: the folder is that of the test's preferences.
        let folder = (try Preferences.standard.path as NSString).deletingLastPathComponent
        let names = EnumKeyTests.users.filter { !$0.isEmpty }
        let paths = try names.map { try Preferences(suite: $0).path }
        #expect(Set(paths).count == names.count)
        let suites = paths.map { Preferences(path: "\(folder)/suites/\(($0 as NSString).lastPathComponent)") }
        try FileManager.default.createDirectory(atPath: "\(folder)/suites", withIntermediateDirectories: true)
        try await expectApart(suites)
    }
}
