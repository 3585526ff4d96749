import Foundation
import Synchronization
import TestSupport
import Testing
import Vault

@testable import VaultAccount

/// Several managers, as several processes have them, and servers that are slow, strict or gone.
@Suite("Renewing a login")
struct RenewalTests {
    private let fixture: AccountFixture

    init() throws {
        fixture = try AccountFixture()
    }

    // MARK: The lock

    /// A simulated answer after 17 seconds, and a second manager that asks meanwhile.
    @Test func aTokenIsUsedOnceHoweverSlowTheServerIs() async throws {
        let asked = Gate()
        let answer = Gate()
        let seen = Mutex([String]())
        var service = ScriptedService()
        service.refresh = { tokens async throws(AccountServiceError) in
            let isFirst = seen.withLock { seen in
                seen.append(tokens.refresh ?? "")
                return seen.count == 1
            }
            guard isFirst else { throw .endedByServer("seen twice") }
            asked.open()
            await answer.wait()
            return ScriptedService.tokens(of: "ada", 2)
        }
        let one = fixture.manager(of: service)
        let other = fixture.manager(of: service)
        try await one.login(userName: "ada", password: "canary-password")
        other.reload()
        async let first = one.refresh()
        await asked.wait()
        fixture.pass(.seconds(17))
        async let second = other.refresh()
        // A lease of 15 seconds would be over: the second would ask within this time.
        try await Task.sleep(for: .milliseconds(300))
        answer.open()
        #expect(try await first.access == "ada-access-2")
        #expect(try await second.access == "ada-access-2")
        #expect(seen.withLock { $0 } == ["ada-refresh-1"])
    }

    // MARK: Tokens that the server rejects

    @Test func fiftyRequestsThatFailWithOneTokenOneByOneMakeOneRefresh() async throws {
        fixture.service.setGate { try? await Task.sleep(for: .milliseconds(20)) }
        let manager = try await fixture.loggedIn()
        let rejected = try await manager.accessToken()
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try await Task.sleep(for: .milliseconds(number * 3))
                    return try await manager.accessToken(insteadOf: rejected)
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(tokens == ["canary-access-2"])
        #expect(fixture.service.count(.refresh) == 1)
    }

    @Test func aRefreshAnswerWithoutARefreshTokenKeepsTheFormerOne() async throws {
        var service = ScriptedService()
        service.refresh = { tokens throws(AccountServiceError) in
            guard tokens.refresh == "ada-refresh-1" else { throw .rejected("no refresh token") }
            return AccountTokens(access: tokens.access + "+")
        }
        let manager = fixture.manager(of: service)
        try await manager.login(userName: "ada", password: "canary-password")
        #expect(try await manager.refresh().access == "ada-access-1+")
        #expect(try await manager.refresh() == AccountTokens(access: "ada-access-1++", refresh: "ada-refresh-1"))
    }

    @Test func aServerThatAsksForMorePatienceThanThereIsIsNotAskedEarlier() async throws {
        let attempts = Counter()
        var service = ScriptedService()
        service.refresh = { _ throws(AccountServiceError) in
            attempts.next()
            throw .unreachable("maintenance", retryAfter: .seconds(31))
        }
        let manager = fixture.manager(of: service)
        try await manager.login(userName: "ada", password: "canary-password")
        let error = await #expect(throws: AccountError.self) { try await manager.refresh() }
        #expect(error?.isUnreachable == true && attempts.value == 1 && manager.isLoggedIn)
    }

    // MARK: Cancellation

    @Test func aCancelledCallerLeavesAtOnceAndTheRefreshGoesOnForTheOthers() async throws {
        let asked = Gate()
        let answer = Gate()
        fixture.service.setGate {
            asked.open()
            await answer.wait()
        }
        let manager = try await fixture.loggedIn()
        let one = Task { try await manager.refresh().access }
        await asked.wait()
        let other = Task { try await manager.accessToken(insteadOf: "canary-access-1") }
        one.cancel()
        // The server has not answered yet.
        await #expect(throws: AccountError.cancelled) { try await one.value }
        answer.open()
        #expect(try await other.value == "canary-access-2")
        #expect(fixture.service.count(.refresh) == 1)
    }

    @Test func aLoginThatIsCancelledDuringAPauseSaysSo() async throws {
        fixture.service.fail(.login, .unreachable("a"))
        var options = fixture.options()
        let paused = Gate()
        options.clock = fixture.clock { _ in
            paused.open()
            try await Task.sleep(for: .seconds(60))
        }
        let manager = fixture.manager(options)
        let login = Task { try await manager.login(userName: "ada", password: "canary-password") }
        await paused.wait()
        login.cancel()
        await #expect(throws: AccountError.cancelled) { try await login.value }
        #expect(fixture.service.count(.login) == 1)
    }

    // MARK: A kept password

    private enum Need: CaseIterable {
        case accessToken, refresh, checkSession, authorization, cookie

        func ask(_ manager: AccountManager<FakeService>) async throws(AccountError) {
            switch self {
            case .accessToken: _ = try await manager.accessToken()
            case .refresh: try await manager.refresh()
            case .checkSession: try await manager.checkSession()
            case .authorization: _ = try await manager.authorizationHeaderValue()
            case .cookie: _ = try await manager.cookieHeaderValue()
            }
        }
    }

    @Test func aLogoutWhileALoginIsRenewedHolds() async throws {
        let logins = Counter()
        let other = fixture.manager()
        var service = ScriptedService()
        service.login = { name throws(AccountServiceError) in
            if logins.next() == 2 { try? other.logout() }
            return AccountLogin(accountID: "id-\(name)", tokens: ScriptedService.tokens(of: name, logins.value))
        }
        let manager = fixture.manager(of: service) {
            $0.validity = .seconds(3_600)
            $0.keepsPassword = true
        }
        try await manager.login(userName: "ada", password: "canary-password")
        fixture.pass(.seconds(3_600))
        await #expect(throws: AccountError.notLoggedIn(.byUser)) { try await manager.accessToken() }
        #expect(logins.value == 2)
        #expect(fixture.manager().reload() == .loggedOut(.byUser))
        #expect(try fixture.keychain.keys(prefix: "account/session/").isEmpty)
    }

    @Test(arguments: Need.allCases) private func aKeptPasswordRenewsALoginThatIsTooOld(_ need: Need) async throws {
        let manager = try await fixture.loggedIn(fixture.options(validity: .seconds(3_600), keepsPassword: true))
        fixture.pass(.seconds(3_600))
        #expect(!manager.isLoggedIn)
        try await need.ask(manager)
        #expect(manager.isLoggedIn && fixture.service.count(.login) == 2 && fixture.service.count(.refresh) == 0)
    }

    /// As after a lost answer: the server has rotated, and rejects the token that this machine has.
    @Test func aRejectedRefreshTokenIsReplacedByALoginWithTheKeptPassword() async throws {
        let manager = try await fixture.loggedIn(fixture.options(keepsPassword: true))
        try manager.update(\.collectIds, to: ["a"])
        fixture.service.forgetAll()
        fixture.service.fail(.login, .unreachable("a"), .unreachable("b"), .unreachable("c"))
        let error = await #expect(throws: AccountError.self) { try await manager.refresh() }
        #expect(error?.isUnreachable == true && manager.isLoggedIn)
        #expect(try await manager.refresh().access == "canary-access-2")
        #expect(manager.isLoggedIn && fixture.service.count(.login) == 5)
    }

    @Test func aPasswordFromBeforeTheAppKeptNoneAnyMoreRenewsNothing() async throws {
        _ = try await fixture.loggedIn(fixture.options(keepsPassword: true))
        let manager = fixture.manager()
        #expect(await manager.autoLogin().isLoggedIn)
        fixture.service.forgetAll()
        await #expect(throws: AccountError.self) { try await manager.refresh() }
        #expect(manager.state == .loggedOut(.rejected) && fixture.service.count(.login) == 1)
    }

    @Test func aPasswordThatIsRejectedTooLogsOut() async throws {
        let manager = try await fixture.loggedIn(fixture.options(keepsPassword: true))
        fixture.service.forgetAll()
        fixture.service.fail(.login, .rejected("changed"))
        await #expect(throws: AccountError.rejected(.rejected("changed"))) { try await manager.refresh() }
        #expect(manager.state == .loggedOut(.rejected))
        #expect(try fixture.keychain.keys(prefix: "") == ["account/ended"])
    }

    @Test func aSessionThatTheServerEndedIsNotRenewedBehindItsBack() async throws {
        let manager = try await fixture.loggedIn(fixture.options(keepsPassword: true))
        fixture.service.fail(.refresh, .endedByServer("ended"))
        await #expect(throws: AccountError.rejected(.endedByServer("ended"))) { try await manager.refresh() }
        #expect(manager.state == .loggedOut(.endedByServer) && fixture.service.count(.login) == 1)
    }

    @Test func aRenewalDoesNotSwitchBackToItsAccount() async throws {
        let asked = Gate()
        let switched = Gate()
        var service = ScriptedService()
        service.refresh = { _ async throws(AccountServiceError) in
            asked.open()
            await switched.wait()
            throw .rejected("an old token")
        }
        let manager = fixture.manager(of: service) { $0.keepsPassword = true }
        try await manager.login(userName: "bob", password: "canary-password")
        try await manager.login(userName: "ada", password: "canary-password")
        let renewing = Task { try await manager.refresh() }
        await asked.wait()
        try manager.switchAccount(to: "id-bob")
        switched.open()
        await #expect(throws: AccountError.switched) { try await renewing.value }
        #expect(manager.state.account?.id == "id-bob")
        #expect(try manager.accountIDs() == ["id-ada", "id-bob"])
    }

    // MARK: Time

    @Test func aTokenIsRenewedThirtySecondsBeforeItEnds() async throws {
        fixture.service.setExpiry(fixture.now + 600)
        let manager = try await fixture.loggedIn()
        fixture.pass(.seconds(569))
        #expect(try await manager.accessToken() == "canary-access-1")
        fixture.pass(.seconds(1))
        #expect(try await manager.accessToken() == "canary-access-2")
    }

    @Test func aTokenThatIsAboutToEndServesWhileTheServerCannotBeReached() async throws {
        fixture.service.setExpiry(fixture.now + 600)
        let manager = try await fixture.loggedIn()
        fixture.pass(.seconds(590))
        fixture.service.fail(.refresh, .unreachable("a"), .unreachable("b"), .unreachable("c"))
        #expect(try await manager.accessToken() == "canary-access-1")
        fixture.pass(.seconds(10))
        fixture.service.fail(.refresh, .unreachable("a"), .unreachable("b"), .unreachable("c"))
        await #expect(throws: AccountError.unreachable(.unreachable("c"))) { try await manager.accessToken() }
    }

    /// Otherwise each request would refresh it.
    @Test func aTokenWithAShortLifeIsUsedForHalfOfIt() async throws {
        fixture.service.setExpiry(fixture.now + 20)
        let manager = try await fixture.loggedIn()
        fixture.pass(.seconds(9))
        #expect(try await manager.accessToken() == "canary-access-1")
        fixture.pass(.seconds(1))
        #expect(try await manager.accessToken() == "canary-access-2")
    }

    @Test func validityMayCountFromTheLastUse() async throws {
        var options = fixture.options(validity: .seconds(1_000))
        options.extendsValidityWithUse = true
        let manager = try await fixture.loggedIn(options)
        for _ in 0..<5 {
            fixture.pass(.seconds(900))
            #expect(try await manager.accessToken() == "canary-access-1")
        }
        // Also at the next start.
        fixture.pass(.seconds(999))
        let restarted = fixture.manager(options)
        #expect(await restarted.autoLogin().isLoggedIn)
        #expect(try await restarted.accessToken() == "canary-access-1")
        // The first manager has not seen that use yet; before it gives up, it looks.
        fixture.pass(.seconds(1))
        #expect(!manager.isLoggedIn)
        #expect(try await manager.accessToken() == "canary-access-1")
        fixture.pass(.seconds(1_000))
        await #expect(throws: AccountError.expired) { try await manager.accessToken() }
    }

    @Test func usesInCloseSuccessionAreRecordedOnce() async throws {
        var options = fixture.options(validity: .seconds(1_000))
        options.extendsValidityWithUse = true
        let manager = try await fixture.loggedIn(options)
        let before = try fixture.keychain.maintenance.information().recordsSinceCheckpoint
        fixture.pass(.seconds(200))
        for _ in 0..<10 { _ = try await manager.accessToken() }
        #expect(try fixture.keychain.maintenance.information().recordsSinceCheckpoint == before + 1)
    }

    @Test func errorsSayTheirSentenceAsLocalizedDescription() {
        #expect((AccountError.expired as any Error).localizedDescription == "The login has expired. Log in again.")
        #expect((AccountServiceError.rejected("No.") as any Error).localizedDescription == "No.")
    }
}
