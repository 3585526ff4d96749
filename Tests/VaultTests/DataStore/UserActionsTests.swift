import Foundation
import LinuxSystem
import Testing
import Vault
import VaultTesting

private enum UserAction: String { case firstLogin, indicatorIndex }

@Suite("User actions", .temporaryStores)
struct UserActionsTests {
    @Test func areMarkedOnceAndForAll() async throws {
        let actions = UserActions<UserAction>(in: Preferences.standard)
        #expect(try await !actions.isDone(.firstLogin))
        try await actions.mark(.firstLogin)
        try await actions.mark(.firstLogin)
        #expect(try await actions.isDone(.firstLogin))
        #expect(try await !actions.isDone(.indicatorIndex))
        #expect(try await Storable<Bool>("firstLogin").read() == true)
        try await actions.remove(.firstLogin)
        #expect(try await !actions.isDone(.firstLogin))
    }

    @Test func keepValues() async throws {
        let actions = UserActions<UserAction>(in: try Keychain.standard)
        #expect(try await actions.read(.indicatorIndex, as: Int.self) == nil)
        try await actions.write(3, for: .indicatorIndex)
        #expect(try await actions.read(.indicatorIndex, as: Int.self) == 3)
        let error = await #expect(throws: VaultError.self) { try await actions.isDone(.indicatorIndex) }
        #expect(error?.code == .wrongType)
    }

    private static let users = [
        "a", "b", "a/b", "a%2Fb", "a%252Fb", "/", "//", "", "..", "../a", ".", "%", "%2F", "a/", "a/\u{308}b", "ü", "😀",
        "a b",
        "firstLogin",
    ]

    private func expectApart(_ actions: [UserActions<UserAction>]) async throws {
        for (index, own) in actions.enumerated() {
            #expect(try await own.read(.indicatorIndex, as: Int.self) == nil)
            try await own.write(index, for: .indicatorIndex)
        }
        for (index, own) in actions.enumerated() {
            #expect(try await own.read(.indicatorIndex, as: Int.self) == index)
        }
        try await actions[0].remove(.indicatorIndex)
        for own in actions.dropFirst() { #expect(try await own.read(.indicatorIndex, as: Int.self) != nil) }
    }

    @Test func ofOneUserAreNotThoseOfAnother() async throws {
        for store in [try Keychain.standard, Preferences.standard, MemoryStore.standard] as [any ValueStore] {
            let scopes = UserActionsTests.users.map { store.scoped(to: $0) }
            try await expectApart(scopes.map { UserActions(in: $0) })
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
        let names = UserActionsTests.users.filter { !$0.isEmpty }
        let paths = try names.map { try Preferences(suite: $0).path }
        #expect(Set(paths).count == names.count)
        let suites = paths.map { Preferences(path: "\(folder)/suites/\(($0 as NSString).lastPathComponent)") }
        try FileManager.default.createDirectory(atPath: "\(folder)/suites", withIntermediateDirectories: true)
        try await expectApart(suites.map { UserActions(in: $0) })
    }
}
