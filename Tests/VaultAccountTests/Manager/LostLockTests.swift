import Foundation
import TestSupport
import Testing
import Vault

@testable import VaultAccount

/// Of a vault in a database, an account's lock ends with the connection. Another manager may have it then.
@Suite("A lost lock of an account")
struct LostLockTests {
    private let fixture: AccountFixture
    private let store: WatchedStore

    init() throws {
        fixture = try AccountFixture()
        store = WatchedStore(fixture.keychain)
    }

    private func manager(
        _ options: AccountManager<FakeService>.Options? = nil
    ) async throws -> AccountManager<FakeService> {
        let manager = fixture.manager(options, vault: .store(store))
        try await manager.login(userName: "ada", password: "canary-password")
        return manager
    }

    private func expectLost(_ manager: AccountManager<FakeService>) async {
        let error = await #expect(throws: AccountError.self) { try await manager.refresh() }
        var code: VaultError.Code?
        if case .store(let cause) = error { code = cause.code }
        #expect(code == .unavailable, "\(error as Any)")
    }

    @Test func isToldBeforeTheServerIsAsked() async throws {
        let manager = try await manager()
        store.loseLocks()
        await expectLost(manager)
        #expect(fixture.service.count(.refresh) == 0)
        #expect(fixture.manager().reload().account?.id == "id-ada")
    }

    /// Between two attempts.
    @Test func isToldBeforeTheServerIsAskedAgain() async throws {
        var options = fixture.options()
        options.clock = fixture.clock { [store] _ in store.loseLocks() }
        let manager = try await manager(options)
        fixture.service.fail(.refresh, .unreachable("away"))
        await expectLost(manager)
        #expect(fixture.service.count(.refresh) == 1)
    }

    @Test func isToldBeforeAKeptPasswordLogsInAndBeforeALogout() async throws {
        for keepsPassword in [true, false] {
            let manager = try await manager(fixture.options(keepsPassword: keepsPassword))
            let logins = fixture.service.count(.login)
            fixture.service.forgetAll()
            fixture.service.setGate { [store] in store.loseLocks() }
            await expectLost(manager)
            #expect(fixture.service.count(.login) == logins)
            #expect(fixture.manager().reload().account?.id == "id-ada", "nobody is logged out")
            store.loseLocks(false)
        }
    }

    /// The server has taken the former ones back.
    @Test func keepsNoTokensFromBeingStored() async throws {
        let manager = try await manager()
        fixture.service.setGate { [store] in store.loseLocks() }
        try await manager.refresh()
        #expect(fixture.service.count(.refresh) == 1)
        store.loseLocks(false)
        try await fixture.manager().refresh()
        #expect(fixture.service.count(.refresh) == 2)
    }
}
