import Foundation
import Testing
import Vault
import VaultAccount

@Suite("Asking the server whether it still takes the login")
struct CheckingTests {
    private let fixture: AccountFixture

    init() throws {
        fixture = try AccountFixture()
    }

    /// Takes the second tokens alone.
    private static let takesNewTokens: ScriptedService.Answer<AccountTokens, Profile?> = {
        (tokens) throws(AccountServiceError) in
        guard tokens.access == "ada-access-2" else { throw .rejected("an old token") }
        return nil
    }

    @Test func anAccessTokenThatItDoesNotTakeIsRefreshedFirst() async throws {
        var service = ScriptedService()
        service.refresh = { _ throws(AccountServiceError) in ScriptedService.tokens(of: "ada", 2) }
        service.validate = Self.takesNewTokens
        let manager = fixture.manager(of: service)
        try await manager.login(userName: "ada", password: "canary-password")
        #expect(try await manager.checkSession().isLoggedIn)
        #expect(try await manager.accessToken() == "ada-access-2")
    }

    @Test func newTokensThatItDoesNotTakeEitherLogOut() async throws {
        let refreshes = Counter()
        var service = ScriptedService()
        service.refresh = { _ throws(AccountServiceError) in
            refreshes.next()
            return ScriptedService.tokens(of: "ada", 2)
        }
        service.validate = { _ throws(AccountServiceError) in throw .rejected("no") }
        let manager = fixture.manager(of: service)
        try await manager.login(userName: "ada", password: "canary-password")
        await #expect(throws: AccountError.rejected(.rejected("no"))) { try await manager.checkSession() }
        #expect(manager.state == .loggedOut(.rejected) && refreshes.value == 1)
    }

    @Test func aRefreshThatCannotReachTheServerChangesNothing() async throws {
        var service = ScriptedService()
        service.validate = Self.takesNewTokens
        let manager = fixture.manager(of: service)
        try await manager.login(userName: "ada", password: "canary-password")
        let error = await #expect(throws: AccountError.self) { try await manager.checkSession() }
        #expect(error?.isUnreachable == true && manager.isLoggedIn)
    }

    @Test func tokensThatCannotBeRefreshedLogOutAtOnce() async throws {
        var service = ScriptedService()
        service.login = { _ throws(AccountServiceError) in
            AccountLogin(accountID: "id", tokens: AccountTokens(access: "ada-access-1"))
        }
        service.validate = Self.takesNewTokens
        let manager = fixture.manager(of: service)
        try await manager.login(userName: "ada", password: "canary-password")
        await #expect(throws: AccountError.self) { try await manager.checkSession() }
        #expect(manager.state == .loggedOut(.rejected))
    }

    /// The server has rotated, and its answer is on its way: what is asked about is old.
    @Test(arguments: [AccountServiceError.rejected("an old token"), .endedByServer("an old token")])
    func aRefreshOnItsWayIsWaitedFor(_ refusal: AccountServiceError) async throws {
        let asked = Gate()
        let refused = Gate()
        var service = ScriptedService()
        service.refresh = { _ async throws(AccountServiceError) in
            asked.open()
            await refused.wait()
            try? await Task.sleep(for: .milliseconds(50))
            return ScriptedService.tokens(of: "ada", 2)
        }
        service.validate = { tokens throws(AccountServiceError) in
            guard tokens.access != "ada-access-2" else { return nil }
            refused.open()
            throw refusal
        }
        let manager = fixture.manager(of: service)
        try await manager.login(userName: "ada", password: "canary-password")
        async let refreshed = manager.refresh()
        await asked.wait()
        #expect(try await manager.checkSession().isLoggedIn)
        #expect(try await refreshed.access == "ada-access-2")
        #expect(fixture.manager().reload().isLoggedIn)
    }

    @Test func anEndByTheServerOfAnAccountThatWasSwitchedAwayFromEndsThatOne() async throws {
        let asked = Gate()
        let switched = Gate()
        var service = ScriptedService()
        service.validate = { _ async throws(AccountServiceError) in
            asked.open()
            await switched.wait()
            throw .endedByServer("ended")
        }
        let manager = fixture.manager(of: service)
        try await manager.login(userName: "bob", password: "canary-password")
        try await manager.login(userName: "ada", password: "canary-password")
        let check = Task { try await manager.checkSession() }
        await asked.wait()
        try manager.switchAccount(to: "id-bob")
        switched.open()
        await #expect(throws: AccountError.rejected(.endedByServer("ended"))) { try await check.value }
        #expect(try manager.accountIDs() == ["id-bob"])
        #expect(manager.state.account?.id == "id-bob")
    }

    @Test func aProfileThatComesAfterALogoutIsNotKept() async throws {
        let asked = Gate()
        let isOut = Gate()
        var service = ScriptedService()
        service.validate = { _ async throws(AccountServiceError) in
            asked.open()
            await isOut.wait()
            return Profile(nickname: "Ada", points: 2)
        }
        let manager = fixture.manager(of: service)
        try await manager.login(userName: "ada", password: "canary-password")
        async let state = manager.checkSession()
        await asked.wait()
        try manager.logout()
        isOut.open()
        #expect(try await state == .loggedOut(.byUser))
        #expect(try fixture.preferences.keys(prefix: "account/profile/") == [])
        #expect(try fixture.keychain.keys(prefix: "") == ["account/ended"])
    }

    @Test func aProfileThatIsKeptAlreadyCostsNoWrite() async throws {
        let manager = try await fixture.loggedIn()
        let before = try fixture.keychain.maintenance.information().recordsSinceCheckpoint
        #expect(try await manager.checkSession().isLoggedIn)
        #expect(try fixture.keychain.maintenance.information().recordsSinceCheckpoint == before)
    }
}
