import Foundation
import Synchronization
import Testing
import Vault
import VaultAccount

@Suite("Several accounts")
struct SeveralAccountsTests {
    private let fixture: AccountFixture

    init() throws {
        fixture = try AccountFixture()
    }

    @Test func accountsAreSwitchedAndNeverMixed() async throws {
        let manager = try await fixture.loggedIn()
        fixture.service.setProfile(Profile(nickname: "Bob", points: 1))
        try await manager.login(userName: "b/o%b\n", password: "canary-password")
        #expect(try manager.accountIDs() == ["id-ada", "id-b/o%b\n"])
        #expect(manager.state.account?.profile?.nickname == "Bob")
        try manager.switchAccount(to: "id-ada")
        #expect(manager.state.account?.profile?.nickname == "Ada")
        #expect(try await manager.accessToken() == "canary-access-1")
        try manager.update(\.points, to: 11)
        try manager.logout()
        #expect(try manager.accountIDs() == ["id-b/o%b\n"])
        try manager.switchAccount(to: "id-b/o%b\n")
        #expect(manager.state.account?.profile == Profile(nickname: "Bob", points: 1))
        #expect(throws: AccountError.notLoggedIn(.never)) { try manager.switchAccount(to: "id-ada") }
    }

    /// Another process has made another account the current one.
    @Test func aLogoutEndsTheAccountThatIsShown() async throws {
        let ada = try await fixture.loggedIn()
        try await fixture.manager().login(userName: "bob", password: "canary-password")
        #expect(ada.state.account?.id == "id-ada")
        try ada.logout()
        #expect(try ada.accountIDs() == ["id-bob"])
        #expect(ada.state.account?.id == "id-bob")
        #expect(try fixture.preferences.keys(prefix: "account/profile/id-ada/") == [])
        #expect(try fixture.keychain.value(of: "account/ended") == nil)
    }

    @Test func anEndByTheServerEndsTheAccountThatIsShown() async throws {
        let ada = try await fixture.loggedIn()
        try await fixture.manager().login(userName: "bob", password: "canary-password")
        try ada.endedByServer()
        #expect(try ada.accountIDs() == ["id-bob"])
        #expect(ada.state.account?.id == "id-bob")
    }

    @Test func aLogoutAfterALogoutElsewhereChangesNothing() async throws {
        let ada = try await fixture.loggedIn()
        let other = fixture.manager()
        other.reload()
        try other.endedByServer()
        try ada.logout()
        #expect(ada.state == .loggedOut(.endedByServer))
        try ada.logout()
        #expect(fixture.manager().reload() == .loggedOut(.endedByServer))
        // But who leaves takes the profile along.
        #expect(try fixture.preferences.keys(prefix: "account/profile/") == [])
    }

    @Test func aRefreshIsSharedByThoseWhoAskForTheSameAccount() async throws {
        let asked = Gate()
        let answer = Gate()
        let refreshed = Mutex<[String]>([])
        var service = ScriptedService()
        service.refresh = { tokens async throws(AccountServiceError) in
            refreshed.withLock { $0.append(tokens.access) }
            guard tokens.access == "ada-access-1" else { return ScriptedService.tokens(of: "bob", 2) }
            asked.open()
            await answer.wait()
            return ScriptedService.tokens(of: "ada", 2)
        }
        let manager = fixture.manager(of: service)
        try await manager.login(userName: "bob", password: "canary-password")
        try await manager.login(userName: "ada", password: "canary-password")
        let adas = Task { () async throws(AccountError) in try await manager.refresh() }
        await asked.wait()
        try manager.switchAccount(to: "id-bob")
        #expect(try await manager.refresh().access == "bob-access-2")
        answer.open()
        // Who asked for ada's gets no one else's.
        await #expect(throws: AccountError.switched) { try await adas.value }
        #expect(refreshed.withLock { $0 } == ["ada-access-1", "bob-access-1"])
        try manager.switchAccount(to: "id-ada")
        #expect(try await manager.accessToken() == "ada-access-2")
    }

    @Test func aHeaderHoldsTokenAndNameOfOne() async throws {
        let manager = fixture.manager(of: ScriptedService())
        try await manager.login(userName: "bob", password: "canary-password")
        try await manager.login(userName: "ada", password: "canary-password")
        let switching = Task.detached {
            for turn in 0..<400 { _ = try? manager.switchAccount(to: turn.isMultiple(of: 2) ? "id-bob" : "id-ada") }
        }
        for _ in 0..<2_000 {
            let header = try await manager.cookieHeaderValue(userNameCookie: "user")
            #expect(["token=ada-access-1; user=ada", "token=bob-access-1; user=bob"].contains(header))
        }
        switching.cancel()
        await switching.value
    }
}
