import Foundation
import Observation
import Synchronization
import TestSupport
import Testing

@testable import Vault
@testable import VaultAccount

@Suite("A manager that follows the stores")
struct FollowingTests {
    private let fixture: AccountFixture

    init() throws {
        fixture = try AccountFixture()
    }

    private var following: AccountManager<FakeService>.Options {
        var options = fixture.options()
        options.followsStores = true
        return options
    }

    // MARK: Others' changes

    @Test func showsWhatOthersDo() async throws {
        let manager = fixture.manager(following)
        let other = fixture.manager()
        #expect(manager.reload() == .loggedOut(.never))
        try await other.login(userName: "ada", password: "canary-password")
        try await ThisProcess.wait { manager.state.account?.profile?.nickname == "Ada" }
        try other.update(\.points, to: 11)
        try await ThisProcess.wait { manager.state.account?.profile?.points == 11 }
        try await other.login(userName: "bob", password: "canary-password")
        try await ThisProcess.wait { manager.state.account?.id == "id-bob" }
        try other.logout()
        try await ThisProcess.wait { manager.state == .loggedOut(.byUser) }
    }

    @Test func isNotKeptByItsFollowers() async throws {
        var manager: AccountManager<FakeService>? = fixture.manager(following)
        manager?.reload()
        try await ThisProcess.wait { fixture.keychain.changes.observerCount == 1 }
        weak let gone = manager
        manager = nil
        try await ThisProcess.wait { gone == nil && fixture.keychain.changes.observerCount == 0 }
        #expect(fixture.preferences.changes.observerCount == 0)
    }

    // MARK: Looks that fail

    @Test(arguments: [VaultError.Code.busy, .unavailable])
    func aFailedLookDoesNotStick(_ code: VaultError.Code) async throws {
        _ = try await fixture.loggedIn()
        let store = FailingStore(fixture.keychain)
        let manager = AccountManager(
            service: fixture.service, keychain: .store(store), preferences: .store(fixture.preferences),
            options: fixture.options())
        let error = VaultError(code, "for a moment")
        store.fail(error)
        #expect(await manager.autoLogin() == .unavailable(error))
        await #expect(throws: AccountError.store(error)) { try await manager.accessToken() }
        store.fail(nil)
        #expect(try await manager.accessToken() == "canary-access-1")
        #expect(manager.isLoggedIn)
    }

    @Test func preferencesThatCannotBeReadForAMomentDoNotCostTheProfile() async throws {
        _ = try await fixture.loggedIn()
        let vault = FailingStore(fixture.keychain)
        let store = FailingStore(fixture.preferences)
        let manager = fixture.manager(vault: .store(vault), profiles: .store(store))
        #expect(manager.reload().account?.profile?.points == 10)
        try fixture.manager().update(\.points, to: 11)
        store.fail(VaultError(.unavailable, "for a moment"))
        #expect(manager.reload().account?.profile?.points == 10)
        // Also if the vault cannot be read meanwhile.
        vault.fail(VaultError(.busy, "for a moment"))
        #expect(manager.reload().account == nil)
        vault.fail(nil)
        #expect(manager.reload().account?.profile?.points == 10)
        store.fail(nil)
        _ = try await manager.accessToken()
        #expect(manager.state.account?.profile?.points == 11)
    }

    @Test func theProfileOfAnotherAccountIsNotShownMeanwhile() async throws {
        _ = try await fixture.loggedIn()
        let store = FailingStore(fixture.preferences)
        let manager = fixture.manager(profiles: .store(store))
        #expect(manager.reload().account?.profile?.points == 10)
        try await fixture.manager().login(userName: "grace", password: "canary-password")
        store.fail(VaultError(.unavailable, "for a moment"))
        let account = manager.reload().account
        #expect(account?.id == "id-grace" && account?.profile == nil)
    }

    // MARK: Observation

    /// A view that takes a millisecond to render must not end with a state that is over.
    @MainActor @Test func aViewIsNeverStale() async throws {
        let manager = AccountManager(
            service: fixture.service, keychain: .store(MemoryStore()), preferences: .store(MemoryStore()))
        try await manager.login(userName: "ada", password: "canary-password")
        let view = SlowView(manager)
        view.render()
        var stale = 0
        for turn in 0..<200 {
            let expected = !turn.isMultiple(of: 2)
            let change = Task.detached {
                usleep(.random(in: 0..<1_000))
                if expected {
                    try await manager.login(userName: "ada", password: "canary-password")
                } else {
                    try manager.endedByServer()
                }
            }
            // Renders for some other reason, while the change comes.
            view.render()
            try await change.value
            for _ in 0..<100 where view.shown != expected { try await Task.sleep(for: .milliseconds(1)) }
            stale += view.shown == expected ? 0 : 1
        }
        #expect(stale == 0)
    }
}

/// Renders on the main actor, again after each notice.
@MainActor private final class SlowView {
    private let manager: AccountManager<FakeService>
    private(set) var shown = false
    private var renderings = 0

    init(_ manager: AccountManager<FakeService>) { self.manager = manager }

    func render() {
        renderings += 1
        let number = renderings
        shown = withObservationTracking {
            let isLoggedIn = manager.isLoggedIn
            usleep(1_000)
            return isLoggedIn
        } onChange: { [weak self] in
            // Only the last rendering counts: the former ones would each begin another.
            Task { @MainActor in if self?.renderings == number { self?.render() } }
        }
    }
}

/// Fails when it is told to.
private final class FailingStore<Base: ValueStore>: ValueStore {
    private let base: Base
    private let error = Mutex<VaultError?>(nil)

    init(_ base: Base) { self.base = base }

    var changes: ChangeFeed { base.changes }
    let failures = FailureLog { _, _ in }

    func fail(_ error: VaultError?) { self.error.withLock { $0 = error } }

    private func check() throws(VaultError) {
        if let error = error.withLock({ $0 }) { throw error }
    }

    func value(of key: String) throws(VaultError) -> StoredValue? {
        try check()
        return try base.value(of: key)
    }
    func keys(prefix: String) throws(VaultError) -> [String] {
        try check()
        return try base.keys(prefix: prefix)
    }
    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        try check()
        return try base.commit(batch)
    }
}
