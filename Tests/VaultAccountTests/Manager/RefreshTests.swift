import Foundation
import Synchronization
import Testing
import Vault

@testable import VaultAccount

@Suite("Refreshing")
struct RefreshTests {
    private let fixture: AccountFixture

    init() throws {
        fixture = try AccountFixture()
        fixture.service.setExpiry(fixture.now + 60)
    }

    private func refreshAfterExpiry(_ count: Int) async throws -> (AccountManager<FakeService>, Set<String>) {
        let manager = try await fixture.loggedIn()
        fixture.pass(.seconds(61))
        fixture.service.setExpiry(fixture.now + 60)
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<count { group.addTask { try await manager.accessToken() } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        return (manager, tokens)
    }

    @Test func fiftyTasksThatNeedATokenShareOneRefresh() async throws {
        fixture.service.setGate { try? await Task.sleep(for: .milliseconds(20)) }
        let (manager, tokens) = try await refreshAfterExpiry(50)
        #expect(tokens == ["canary-access-2"])
        #expect(fixture.service.count(.refresh) == 1)
        #expect(manager.isLoggedIn)
    }

    @Test func aRotatedTokenIsInTheVaultWhenRefreshReturns() async throws {
        let manager = try await fixture.loggedIn()
        let tokens = try await manager.refresh()
        #expect(tokens.access == "canary-access-2")
        #expect(try await fixture.manager().accessToken() == "canary-access-2")
        #expect(try await manager.refresh().access == "canary-access-3")
    }

    @Test func anUnreachableServerChangesNothing() async throws {
        let manager = try await fixture.loggedIn()
        let before = manager.state
        for call in [FakeService.Call.refresh, .validate] {
            let down = AccountServiceError.unreachable("down")
            fixture.service.fail(call, down, down, down)
            let error = await #expect(throws: AccountError.self) {
                if call == .refresh { try await manager.refresh() } else { try await manager.checkSession() }
            }
            #expect(error?.isUnreachable == true)
            #expect(manager.state == before && fixture.manager().reload() == before)
        }
        #expect(try await manager.accessToken() == "canary-access-1")
    }

    @Test func aRejectionLogsOutForThatReason() async throws {
        let manager = try await fixture.loggedIn()
        fixture.service.forgetAll()
        let error = await #expect(throws: AccountError.self) { try await manager.refresh() }
        #expect(error?.isRejection == true)
        #expect(manager.state == .loggedOut(.rejected))
        #expect(fixture.service.count(.refresh) == 1)
        #expect(try fixture.keychain.keys(prefix: "") == ["account/ended"])
        #expect(try fixture.keychain.maintenance.information().deadBytes == 0)
    }

    @Test func theServersNoAtACheckLogsOut() async throws {
        let manager = try await fixture.loggedIn()
        #expect(try await manager.checkSession().isLoggedIn)
        fixture.service.forgetAll()
        try manager.update(\.collectIds, to: ["a"])
        await #expect(throws: AccountError.self) { try await manager.checkSession() }
        #expect(fixture.manager().reload() == .loggedOut(.rejected))
        // Nobody meant to leave: what only this machine knows is there again after the next login.
        fixture.service.setProfile(nil)
        try await manager.login(userName: "ada", password: "canary-password")
        #expect(manager.state.account?.profile?.collectIds == ["a"])
    }

    /// Another process has rotated: the server rejects the old token, and the new one is in the vault.
    @Test func tokensOfAnotherProcessAreTakenInsteadOfLoggingOut() async throws {
        let manager = try await fixture.loggedIn()
        let other = fixture.manager()
        other.reload()
        #expect(try await other.refresh().access == "canary-access-2")
        #expect(try await manager.refresh().access == "canary-access-2")
        #expect(fixture.service.count(.refresh) == 1)
        // And if it happens while the request is on its way, by one that does not know the lock.
        fixture.service.setGate { [fixture] in
            let vault = AccountVault(fixture.keychain)
            guard let session = try? vault.present().session else { return }
            try? vault.change(session) { $0.tokens.access = "canary-access-of-another" }
            fixture.service.forgetAll()
        }
        #expect(try await manager.refresh().access == "canary-access-of-another")
        #expect(manager.isLoggedIn && other.reload().isLoggedIn)
    }

    @Test func tokensOfALaterLoginStayWhenASlowRefreshIsAnswered() async throws {
        let manager = try await fixture.loggedIn()
        fixture.service.setGate { [fixture] in
            let vault = AccountVault(fixture.keychain)
            guard let session = try? vault.present().session else { return }
            try? vault.change(session) { $0.tokens.access = "canary-access-of-a-later-login" }
        }
        #expect(try await manager.refresh().access == "canary-access-of-a-later-login")
        #expect(fixture.service.count(.refresh) == 1)
    }

    @Test func aLogoutWhileARefreshIsOnItsWayHolds() async throws {
        let manager = try await fixture.loggedIn()
        fixture.service.setGate { try? manager.logout() }
        let error = await #expect(throws: AccountError.self) { try await manager.refresh() }
        #expect(error == .notLoggedIn(.byUser))
        #expect(fixture.manager().reload() == .loggedOut(.byUser))
        #expect(try fixture.keychain.keys(prefix: "account/session/").isEmpty)
    }

    @Test func aTokenWithoutARefreshTokenExpires() async throws {
        let manager = try await fixture.loggedIn()
        let session = try #require(try fixture.keychain.value(of: "account/session/id-ada"))
        guard case .dictionary(var fields) = session, case .dictionary(var tokens)? = fields["tokens"] else {
            Issue.record("the session has another form")
            return
        }
        tokens["refresh"] = nil
        fields["tokens"] = .dictionary(tokens)
        _ = try fixture.keychain.commit(StoreBatch(["account/session/id-ada": .dictionary(fields)]))
        #expect(manager.reload().isLoggedIn)
        fixture.pass(.seconds(61))
        #expect(!manager.isLoggedIn && manager.state.account != nil)
    }
}
