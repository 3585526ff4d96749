import Foundation
import TestSupport
import Testing
import Vault
import VaultAccount

@Suite("Logging in and out")
struct LoginTests {
    private let fixture: AccountFixture

    init() throws {
        fixture = try AccountFixture()
    }

    @Test func nobodyIsLoggedInAtFirst() async {
        let manager = fixture.manager()
        #expect(manager.state == .unknown)
        #expect(await manager.autoLogin() == .loggedOut(.never))
        #expect(!manager.isLoggedIn)
    }

    @Test func whoHasLoggedInIsStillAfterARestartAndWithoutTheServer() async throws {
        let state = try await fixture.manager().login(userName: "ada", password: "canary-password")
        let account = try #require(state.account)
        #expect(state.isLoggedIn)
        #expect(account.id == "id-ada" && account.userName == "ada" && account.loggedInAt == fixture.now)
        #expect(account.profile == Profile(nickname: "Ada", points: 10))
        fixture.service.fail(.login, .unreachable("down"))
        let restarted = fixture.manager()
        #expect(await restarted.autoLogin() == state)
        #expect(try await restarted.accessToken() == "canary-access-1")
        #expect(fixture.service.count(.login) == 1)
        #expect(try restarted.lastUserName() == "ada")
    }

    @Test func secretsAreInTheVaultAlone() async throws {
        _ = try await fixture.loggedIn(fixture.options(keepsPassword: true))
        let plist = String(decoding: try contents(fixture.preferences.path), as: UTF8.self)
        #expect(plist.contains("Ada") && !plist.contains("canary"))
        #expect(try !contents(fixture.keychain.location.vault).holds("canary-access-1".utf8))
        #expect(try fixture.keychain.keys(prefix: "account/password/") == ["account/password/id-ada"])
    }

    @Test func thePasswordIsKeptOnlyIfTheAppWantsThat() async throws {
        _ = try await fixture.loggedIn()
        #expect(try fixture.keychain.keys(prefix: "account/password/") == [])
    }

    @Test func aWrongPasswordChangesNothing() async throws {
        let manager = try await fixture.loggedIn()
        let before = manager.state
        let error = await #expect(throws: AccountError.self) {
            try await manager.login(userName: "eve", password: "canary-wrong")
        }
        #expect(error?.isRejection == true)
        #expect(manager.state == before && fixture.manager().reload() == before)
        #expect(fixture.service.count(.login) == 2)
    }

    @Test func anUnreachableServerIsAskedAgainAtGrowingDistances() async throws {
        var options = fixture.options()
        options.retries = AccountRetryPolicy(attempts: 4, firstPause: .seconds(1), longestPause: .seconds(3))
        fixture.service.fail(
            .login, .unreachable("a"), .unreachable("b", retryAfter: .seconds(2)), .unreachable("c"))
        #expect(try await fixture.loggedIn(options).isLoggedIn)
        let pauses = fixture.pauses
        #expect(pauses.count == 3 && fixture.service.count(.login) == 4)
        #expect(pauses[0] >= .milliseconds(500) && pauses[0] <= .seconds(1))
        #expect(pauses[1] == .seconds(2))
        #expect(pauses[2] >= .milliseconds(1_500) && pauses[2] <= .seconds(3))
    }

    @Test func aServerThatStaysAwayIsAnErrorInTheEnd() async throws {
        fixture.service.fail(.login, .unreachable("a"), .unreachable("b"), .unreachable("c"))
        let error = await #expect(throws: AccountError.self) { try await fixture.loggedIn() }
        #expect(error == .unreachable(.unreachable("c")))
        #expect(fixture.manager().reload() == .loggedOut(.never))
    }

    @Test func loggingOutLeavesNoSecretAndNoProfile() async throws {
        let manager = try await fixture.loggedIn(fixture.options(keepsPassword: true))
        try manager.logout()
        #expect(manager.state == .loggedOut(.byUser))
        #expect(fixture.manager().reload() == .loggedOut(.byUser))
        #expect(try fixture.keychain.keys(prefix: "") == ["account/ended"])
        // Compacted: what was dead is gone from the file.
        #expect(try fixture.keychain.maintenance.information().deadBytes == 0)
        #expect(try fixture.keychain.maintenance.information().recordsSinceCheckpoint == 0)
        #expect(try fixture.preferences.keys(prefix: "") == ["account/lastUserName"])
        let error = await #expect(throws: AccountError.self) { try await manager.accessToken() }
        #expect(error == .notLoggedIn(.byUser))
    }

    @Test func loggingOutOfAScopeErasesToo() async throws {
        let manager = AccountManager(
            service: fixture.service, keychain: .store(fixture.keychain.scoped(to: "app")),
            preferences: .store(fixture.preferences))
        try await manager.login(userName: "ada", password: "canary-password")
        try manager.logout()
        #expect(try fixture.keychain.maintenance.information().deadBytes == 0)
    }

    @Test func aSessionThatTheServerEndsIsLoggedOutForThatReason() async throws {
        let manager = try await fixture.loggedIn(fixture.options(keepsPassword: true))
        try manager.endedByServer()
        #expect(manager.state == .loggedOut(.endedByServer))
        // And not logged in again behind the server's back.
        #expect(await fixture.manager(fixture.options(keepsPassword: true)).autoLogin() == .loggedOut(.endedByServer))
        #expect(fixture.service.count(.login) == 1)
    }

    @Test func aLoginThatIsTooOldExpiresAndStaysKnown() async throws {
        let options = fixture.options(validity: .seconds(3_600))
        let manager = try await fixture.loggedIn(options)
        fixture.pass(.seconds(3_599))
        #expect(manager.isLoggedIn)
        fixture.pass(.seconds(1))
        #expect(!manager.isLoggedIn)
        #expect(manager.state.account?.userName == "ada")
        let restarted = fixture.manager(options)
        guard case .expired = await restarted.autoLogin() else {
            Issue.record("\(restarted.state)")
            return
        }
        let error = await #expect(throws: AccountError.self) { try await restarted.accessToken() }
        #expect(error == .expired)
    }

    @Test func aKeptPasswordRenewsALoginThatIsTooOld() async throws {
        let options = fixture.options(validity: .seconds(3_600), keepsPassword: true)
        _ = try await fixture.loggedIn(options)
        fixture.pass(.seconds(4_000))
        fixture.service.fail(.login, .unreachable("a"), .unreachable("b"), .unreachable("c"))
        let restarted = fixture.manager(options)
        #expect(await !restarted.autoLogin().isLoggedIn)
        #expect(restarted.state.account != nil)
        #expect(await restarted.autoLogin().isLoggedIn)
        fixture.pass(.seconds(4_000))
        fixture.service.fail(.login, .rejected("changed"))
        #expect(await fixture.manager(options).autoLogin() == .loggedOut(.rejected))
    }

    @Test func aRenewalThatIsRejectedEndsNoOtherLogin() async throws {
        let options = fixture.options(validity: .seconds(3_600), keepsPassword: true)
        _ = try await fixture.loggedIn(options)
        fixture.pass(.seconds(4_000))
        let other = fixture.manager(options)
        var service = ScriptedService()
        service.login = { _ async throws(AccountServiceError) in
            // Meanwhile the person logs in by hand in another window, with the new password.
            _ = try? await other.login(userName: "ada", password: "canary-password")
            throw .rejected("the old password")
        }
        let manager = fixture.manager(of: service) {
            $0.validity = .seconds(3_600)
            $0.keepsPassword = true
        }
        #expect(await manager.autoLogin().isLoggedIn)
        #expect(fixture.manager(options).reload().isLoggedIn)
    }

    @Test func aPasswordFromBeforeTheAppKeptNoneAnyMoreIsNotUsed() async throws {
        _ = try await fixture.loggedIn(fixture.options(validity: .seconds(3_600), keepsPassword: true))
        fixture.pass(.seconds(4_000))
        #expect(await !fixture.manager(fixture.options(validity: .seconds(3_600))).autoLogin().isLoggedIn)
        #expect(fixture.service.count(.login) == 1)
    }
}
