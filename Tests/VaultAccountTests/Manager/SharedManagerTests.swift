import Testing
import VaultAccount
import VaultTesting

private let shared = AccountManager(service: ScriptedService())

/// One manager in a `static let`, as apps have it, in many tests at once.
@Suite("A manager that tests share", .temporaryStores)
struct SharedManagerTests {
    @Test(arguments: 0..<20) func knowsOnlyTheStoresOfTheTest(_ number: Int) async throws {
        #expect(await shared.autoLogin() == .loggedOut(.never))
        try await shared.login(userName: "user \(number)", password: "p")
        await Task.yield()
        #expect(shared.state.account?.userName == "user \(number)")
        #expect(try shared.lastUserName() == "user \(number)")
    }
}
